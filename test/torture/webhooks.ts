import { query } from '../support/databases.ts'
import { CONNECTION_POLL_MS, eventually, type Service, TIMEOUT_MS } from '../support/process.ts'
import { randomInteger } from '../support/seeded.ts'
import { orderings, roles, type Site, startClients } from './webhook-site.ts'

type Event = { id: string; key: string; at: number }
type Round = {
  round: number
  killed: string
  events: number
  deliveries: number
  lost: number
  misplaced: number
  repeated: number
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
    refused: receiver.counts.refused - before.refused,
    slowestMs: Math.max(...near.map(({ id, at }) => (takenAt.get(id) ?? 0) - Math.max(at, killedAt))),
    faults: receiver.faults.slice(before.faults),
  }
}

const POSTGRES = -1

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

/** Compares every committed event with what each webhook received, in order and by number. */
export async function reconcile(site: Pick<Site, 'url' | 'receiver'>) {
  const { url, receiver } = site
  await eventually(
    async () => (await query(url, `select 1 from deliveries union all select 1 from events where no is null limit 1`)).length === 0,
    TIMEOUT_MS,
    CONNECTION_POLL_MS,
  ).catch(() => {})
  const read = (order: string) =>
    query<Event>(
      url,
      `select id, key, (extract(epoch from logged_at) * 1000)::float8 as at from events where no is not null order by ${order}`,
    )
  const [bySeq, byPosition] = [await read('seq'), await read('no')]
  const countMissing = () => orderings.map((_, i) => bySeq.filter(({ id }) => !receiver.at(`/${i}`).takenAt.has(id)).length)
  await eventually(() => countMissing().every((count) => count === 0)).catch(() => {})
  const lost = countMissing().reduce((sum, count) => sum + count, 0)
  const misplaced = orderings.map((ordering, i) =>
    misplacedIn(site, `/${i}`, lanesOf(ordering, ordering === 'strict' ? byPosition : bySeq)),
  )
  return { events: bySeq, lost, misplaced: misplaced.reduce((sum, count) => sum + count, 0) }
}

function lanesOf(ordering: (typeof orderings)[number], events: Event[]) {
  return Map.groupBy(events, ({ id, key }) => ({ per_key: key, strict: '*', unordered: id })[ordering])
}

/** Messages whose number differs from their position in the lane. */
function misplacedIn({ receiver }: Pick<Site, 'receiver'>, path: string, lanes: Map<string, Event[]>) {
  const received = receiver.at(path).lanes
  return [...lanes].flatMap(([key, events]) => events.filter(({ id }, i) => (received.get(key)?.ids[i] ?? id) !== id)).length
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
