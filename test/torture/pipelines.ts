import { query } from '../support/databases.ts'
import { eventually, type Service } from '../support/process.ts'
import { randomInteger } from '../support/seeded.ts'
import { openSite, type Site, startClients } from './pipeline-site.ts'

const victims = ['the broker', 'the process that publishes', 'PostgreSQL'] as const
type Victim = (typeof victims)[number]

type Round = {
  round: number
  killed: Victim
  /** Events committed in this round, and their outcome. */
  events: number
  received: number
  duplicates: number
  lost: number
  /** Events that arrived before an earlier event: of the same key, and of any key. */
  misplaced: number
  overtaken: number
  recoveryMs: number
}

type Options = { rounds: number; log?: string | undefined; print?: (line: string) => void; killed?: readonly Victim[] }

/** Repeatedly kills a broker, its publisher or PostgreSQL under load and compares committed with received events. */
export async function torturePipelines({ rounds, log, print = () => {}, killed = victims }: Options) {
  const site = await openSite(log)
  const results: Round[] = []
  try {
    for (let round = 1; round <= rounds; round++) {
      const result = await killDuringPublishing(site, round, killed[(round - 1) % killed.length] as Victim)
      results.push(result)
      print(describeRound(result))
    }
    return results
  } finally {
    await site.close()
  }
}

async function killDuringPublishing(site: Site, round: number, killed: Victim): Promise<Round> {
  const { received } = site.reader
  const before = { received: received.length, events: (await logOf(site)).length }
  const clients = await startClients(site)
  const minimum = randomInteger(20, 59)
  await eventually(() => clients.placed() >= minimum && received.length > before.received)
  const leader = await eventually(async () => (await site.leader()) + 1)
  const killedAt = Date.now()
  if (killed === 'PostgreSQL') site.killPostgres()
  else if (killed === 'the broker') await site.broker.kill()
  else (site.services[leader - 1] as Service).child.kill('SIGKILL')
  const placed = clients.placed()
  await eventually(() => clients.placed() > placed + minimum / 4)
  if (killed === 'the broker') await site.broker.start()
  const receivedBefore = received.length
  await eventually(() => received.length > receivedBefore)
  const recoveryMs = Date.now() - killedAt
  if (killed === 'the process that publishes') site.services[leader - 1] = await site.start()
  await clients.stop()
  return { round, killed, recoveryMs, ...(await reconcile(site, before)) }
}

type Event = { id: string; key: string }

const logOf = ({ url }: Site) => eventually(() => query<Event>(url, 'select id, key from events order by no'))

/** Compares the whole log with everything received. */
async function reconcile(site: Site, before: { received: number; events: number }) {
  const { received } = site.reader
  await eventually(async () => (await query(site.url, 'select from outbox limit 1')).length === 0)
  const log = await logOf(site)
  const countMissing = () => log.filter(({ id }) => !received.includes(id)).length
  await eventually(() => countMissing() === 0).catch(() => {})
  const newlyReceived = received.slice(before.received)
  const positions = new Map(log.map(({ id }, position) => [id, position]))
  const arrived = [...new Set(received)].map((id) => log[positions.get(id) as number] as Event)
  const countOvertaking = (events: Event[]) => events.filter(({ id }, i) => i > 0 && order(events[i - 1]) > order({ id })).length
  const order = (event: { id: string } | undefined) => positions.get(event?.id ?? '') ?? -1
  return {
    events: log.length - before.events,
    received: newlyReceived.length,
    duplicates: received.length - new Set(received).size - (before.received - new Set(received.slice(0, before.received)).size),
    lost: countMissing(),
    misplaced: [...Map.groupBy(arrived, ({ key }) => key).values()].reduce((sum, events) => sum + countOvertaking(events), 0),
    overtaken: countOvertaking(arrived),
  }
}

const describeRound = ({ round, killed, events, received, duplicates, lost, misplaced, overtaken, recoveryMs }: Round) =>
  `round ${round}, kill -9 of ${killed}: ${events} events sent, ${received} received, ${duplicates} duplicates, ${lost} lost, ` +
  `${misplaced} out of order within their key, ${overtaken} across keys, publishing again after ${recoveryMs} ms`

export function summaryOfPipelines(rounds: Round[]) {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0)
  return (
    `kill -9 during publishing: ${rounds.length} rounds, ${sum(({ events }) => events)} events sent, ${sum(({ received }) => received)} received, ` +
    `${sum(({ duplicates }) => duplicates)} duplicates, ${rounds.at(-1)?.lost} lost, ${rounds.at(-1)?.misplaced} out of order within their key, ` +
    `${rounds.at(-1)?.overtaken} across keys`
  )
}
