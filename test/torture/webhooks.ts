import { query } from '../support/databases.ts'
import { CONNECTION_POLL_MS, eventually, type Service, TIMEOUT_MS } from '../support/process.ts'
import { randomInteger } from '../support/seeded.ts'
import { orderings, roles, type Site, startClients } from './webhook-site.ts'

type Event = { id: string; no: number; at: number }
type Round = {
  round: number
  killed: string
  events: number
  deliveries: number
  lost: number
  misplaced: number
  repeated: number
  /** How often the team may have changed its owner, or the owner its connections. */
  taken: number
  refused: number
  /** The time from the kill to the last message that was due by then or shortly after. */
  slowestMs: number
  faults: string[]
}

type Options = { rounds: number; print?: (line: string) => void }

/** Messages emitted this long after the kill still count toward the recovery. */
const AFTERMATH_MS = 1000

/** Repeatedly kills workers, API processes and PostgreSQL under load and compares committed with received events. */
export async function tortureWebhooks(site: Site, { rounds, print = () => {} }: Options) {
  const results: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const result = await killDuringDelivery(site, round)
    results.push(result)
    print(describeRound(result))
  }
  return results
}

async function killDuringDelivery(site: Site, round: number): Promise<Round> {
  const { receiver } = site
  const before = { ...receiver.counts, faults: receiver.faults.length, events: await countEvents(site) }
  // Every third round the receiver fails as well.
  receiver.refuse(round % 3 === 0 ? 150 : Number.POSITIVE_INFINITY)
  const clients = await startClients(site)
  const minimum = randomInteger(15, 44)
  await eventually(() => clients.placed() >= minimum)
  if (freezesOwner(round)) await freezeOwner(site)
  const victims = victimsOf(round)
  const killedAt = Date.now()
  for (const victim of victims) victim < 0 ? site.killPostgres() : site.killService(victim)
  const placed = clients.placed()
  await restart(site, victims)
  await eventually(() => clients.placed() > placed + minimum / 2)
  await clients.stop()
  const { events, lost, misplaced } = await reconcile(site)
  const near = events.filter(({ at }) => at < killedAt + AFTERMATH_MS)
  const takenAt = receiver.at('/0').takenAt
  return {
    round,
    killed: victims.map((victim) => roles[victim] ?? 'PostgreSQL').join(' and '),
    events: events.length - before.events,
    deliveries: receiver.counts.taken - before.taken,
    lost,
    misplaced,
    repeated: receiver.counts.repeated - before.repeated,
    taken: victims.length + (freezesOwner(round) ? 1 : 0),
    refused: receiver.counts.refused - before.refused,
    slowestMs: Math.max(...near.map(({ id, at }) => (takenAt.get(id) ?? 0) - Math.max(at, killedAt))),
    faults: receiver.faults.slice(before.faults),
  }
}

const POSTGRES = -1
/** A frozen process has lost its team when it wakes, and may still hold messages. */
const freezesOwner = (round: number) => round % 4 === 2

/** Freezes the worker that owns the team until another one owns it, and wakes it. */
async function freezeOwner(site: Site) {
  const frozen = await eventually(async () => (await site.owner()) + 1)
  const { pid } = site.services[frozen - 1] as Service
  process.kill(pid, 'SIGSTOP')
  await eventually(async () => ![-1, frozen - 1].includes(await site.owner()), TIMEOUT_MS, CONNECTION_POLL_MS)
  process.kill(pid, 'SIGCONT')
}

/** A worker, PostgreSQL or an API process in turn, sometimes two at once. */
function victimsOf(round: number) {
  const first = [randomInteger(0, 1), POSTGRES, randomInteger(2, roles.length - 1)][round % 3] as number
  const second = randomInteger(-1, 19)
  return second < roles.length && second !== first ? [first, second] : [first]
}

async function restart(site: Site, victims: number[]) {
  await eventually(() => query(site.url, 'select 1'), TIMEOUT_MS, CONNECTION_POLL_MS)
  for (const victim of victims.filter((victim) => victim !== POSTGRES)) {
    await (site.services[victim] as Service).exited
    site.services[victim] = await site.start(victim)
  }
}

const countEvents = async ({ url }: Site) => Number((await query<{ count: string }>(url, 'select count(*) from events'))[0]?.count)

/** Compares every committed event with what each webhook received, by position, and checks the chains of previous positions. */
export async function reconcile(site: Pick<Site, 'url' | 'receiver'>) {
  const { url, receiver } = site
  await eventually(
    async () => (await query(url, 'select from outbox union all select from parked_messages limit 1')).length === 0,
    TIMEOUT_MS,
    CONNECTION_POLL_MS,
  ).catch(() => {})
  const events = await query<Event>(
    url,
    'select id, no::float8 as no, (extract(epoch from logged_at) * 1000)::float8 as at from events where deliverable order by no',
  )
  const countMissing = () => orderings.map((_, i) => events.filter(({ id }) => !receiver.at(`/${i}`).takenAt.has(id)).length)
  await eventually(() => countMissing().every((count) => count === 0)).catch(() => {})
  const lost = countMissing().reduce((sum, count) => sum + count, 0)
  const misplaced = orderings.map((_, i) => misplacedIn(site, `/${i}`, events))
  return { events, lost, misplaced: misplaced.reduce((sum, count) => sum + count, 0) }
}

/** Messages with another position than their event, or whose previous position is not that of the event before. */
function misplacedIn({ receiver }: Pick<Site, 'receiver'>, path: string, events: Event[]) {
  const { taken } = receiver.at(path)
  return events.filter(({ id, no }, i) => {
    const message = taken.get(no)
    const before = events[i - 1]?.no
    // The webhook began after the first events.
    const isFirst = before === undefined || !taken.has(before)
    return message && (message.id !== id || (message.previous === undefined ? !isFirst : Number(message.previous) !== before))
  }).length
}

const describeRound = ({ round, killed, events, deliveries, lost, misplaced, repeated, refused, slowestMs, faults }: Round) =>
  `round ${round}, kill -9 of ${killed}: ${events} events, ${deliveries} deliveries${refused ? `, ${refused} refused by the receiver` : ''}, ` +
  `${lost} lost, ${misplaced + faults.length} out of order, ${repeated} sent twice, slowest ${Math.round(slowestMs)} ms${faults.map((fault) => `\n  ${fault}`).join('')}`

export function summaryOfWebhooks(rounds: Round[]) {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const lines = [...Map.groupBy(rounds, ({ killed }) => killed)].map(([killed, its]) => {
    const repeated = its.map((round) => round.repeated).sort((a, b) => a - b)
    const slowest = its
      .filter(({ refused }) => !refused)
      .map((round) => Math.round(round.slowestMs))
      .sort((a, b) => a - b)
    const middle = (sorted: number[]) => sorted[Math.floor(sorted.length / 2)] ?? '–'
    return `  ${killed}: ${its.length} kills, sent twice median ${middle(repeated)}, most ${repeated.at(-1)}; slowest message median ${middle(slowest)} ms, longest ${slowest.at(-1) ?? '–'} ms`
  })
  return [
    `kill -9 during delivery: ${rounds.length} rounds, ${sum(({ events }) => events)} events, ${sum(({ deliveries }) => deliveries)} deliveries, ` +
      `${sum(({ lost }) => lost)} lost, ${sum(({ misplaced, faults }) => misplaced + faults.length)} out of order or wrong, ${sum(({ repeated }) => repeated)} sent twice`,
    ...lines,
  ].join('\n')
}
