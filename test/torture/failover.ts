import { query } from '../support/databases.ts'
import { eventually } from '../support/process.ts'
import { randomInteger } from '../support/seeded.ts'
import { addresses, type Site } from './failover-site.ts'
import { orders } from './orders.ts'
import { verifyAudit } from './rounds.ts'
import { faultsInTables } from './tables.ts'
import { orderings } from './webhook-site.ts'
import { reconcile } from './webhooks.ts'
import { startWriters } from './writers.ts'

type OrderAttempt = Parameters<typeof orders.compare>[1][number]
type Body = OrderAttempt['body']
type Response = NonNullable<OrderAttempt['response']>

/** What happens to the primary: kill -9 of all its processes, a machine that stops responding, or an orderly shutdown. */
export const endings = ['killed', 'hangs', 'stopped'] as const
type Ending = (typeof endings)[number]
export type Mode = 'synchronous' | 'asynchronous'

type Round = {
  round: number
  mode: Mode
  ending: Ending
  acknowledged: number
  /** Requests without a 200: the response was 503, or the connection was lost. */
  unacknowledged: number
  lost: number
  /** Messages about lost events that a receiver already has. */
  announced: number
  /** The time from the end of the primary until the standby accepts writes, and until each API process places an order. */
  promotedMs: number
  gapsMs: number[]
  /** Messages that were pending at the first order on the new primary, and the time from then until the last one arrived. */
  late: number
  lateMs: number
  repeated: number
  /** Messages that did not arrive, and messages that arrived out of order. */
  undelivered: number
  misplaced: number
  audit: string
  faults: string[]
}

export type Plan = { mode: Mode; ending: Ending }
type Options = { rounds: Plan[]; print?: (line: string) => void }

/** Fails over repeatedly under load. Asynchronous rounds come last, because the numbers of lost messages are used again. */
export async function tortureFailover(site: Site, { rounds, print = () => {} }: Options) {
  const results: Round[] = []
  const kept: OrderAttempt[] = []
  for (const plan of rounds) {
    const result = await failOver(site, ++site.round, plan, kept)
    results.push(result)
    print(describeRound(result))
  }
  return results
}

/** `kept` are the attempts of earlier rounds, whose orders must still exist. */
async function failOver(site: Site, round: number, { mode, ending }: Plan, kept: OrderAttempt[]): Promise<Round> {
  const { receiver } = site
  const isSynchronous = mode === 'synchronous'
  if (!isSynchronous) receiver.ignoreOrder()
  const before = { repeated: receiver.counts.repeated, faults: receiver.faults.length, ghosts: await countGhosts(site) }
  await site.startStandby(isSynchronous)
  const { attempts, recoveredAt, ...times } = await endPrimary(site, round, { mode, ending })
  const counts = { acknowledged: attempts.filter(isAcknowledged).length, unacknowledged: attempts.filter((a) => !isAcknowledged(a)).length }
  const { events, lost: undelivered, misplaced } = await reconcile(site)
  const earlier = events.filter(({ at }) => at < recoveredAt)
  const takenAt = orderings.flatMap((_, i) => earlier.map(({ id }) => receiver.at(`/${i}`).takenAt.get(id) ?? Date.now()))
  const late = takenAt.filter((at) => at > recoveredAt)
  const { lost, faults } = await orders.compare(site.api, [...kept, ...attempts])
  const tableFaults = await faultsInTables(site, orders)
  // An order that was lost is placed again by a retry, with another response.
  const retryFaults = isSynchronous ? ((await orders.finish?.(site.api, attempts)) ?? []) : []
  if (isSynchronous) kept.push(...attempts)
  const audit = await verifyAudit(site)
  return {
    ...{ round, mode, ending, ...counts, lost, undelivered, misplaced, ...times },
    announced: (await countGhosts(site)) - before.ghosts,
    late: late.length,
    lateMs: Math.max(recoveredAt, ...late) - recoveredAt,
    repeated: receiver.counts.repeated - before.repeated,
    audit: audit.output,
    faults: [...times.faults, ...faults, ...tableFaults, ...retryFaults, ...audit.faults, ...receiver.faults.slice(before.faults)],
  }
}

const isAcknowledged = ({ response }: OrderAttempt) => response !== undefined

/** Received events that are not in the log. */
async function countGhosts({ url, receiver }: Site) {
  const logged = new Set((await query<{ id: string }>(url, 'select id from events')).map(({ id }) => id))
  return [...receiver.at('/0').takenAt.keys()].filter((id) => !logged.has(id)).length
}

const WRITERS = 4
/** Orders placed while an asynchronous standby is behind, and after the failover. */
const FEW = 12

/** Places orders while the primary ends and the standby takes over. */
async function endPrimary(site: Site, round: number, { mode, ending }: Plan) {
  const { replication, credentials, work } = site
  const writers = site.apis.map(({ url: base }, i) =>
    startWriters<Body, Response>({ base, key: credentials.team_api_key, work, count: WRITERS, round: round * site.apis.length + i }),
  )
  const waitForOrders = async (count: number) => {
    const goals = writers.map((writer) => writer.acknowledged() + count)
    await eventually(() => writers.every((writer, i) => writer.acknowledged() >= (goals[i] as number)))
  }
  await waitForOrders(randomInteger(15, 44))
  if (mode === 'asynchronous') {
    site.freezeReplication()
    await waitForOrders(FEW)
  }
  const endedAt = performance.now()
  if (ending === 'stopped') await replication.stopPrimary()
  else replication.signalPrimary(ending === 'killed' ? 'SIGKILL' : 'SIGSTOP')
  await Promise.all(writers.map((writer) => writer.waitForFailure()))
  const failedAt = performance.now()
  await site.promote()
  const promotedMs = performance.now() - endedAt
  const recovered = await Promise.all(writers.map((writer) => eventually(() => writer.firstAfter(failedAt))))
  await replication.endStandby()
  await waitForOrders(FEW)
  const attempts = (await Promise.all(writers.map((writer) => writer.stop()))).flat()
  return {
    attempts,
    /** By the wall clock. */
    recoveredAt: performance.timeOrigin + Math.min(...recovered),
    promotedMs,
    gapsMs: recovered.map((at) => at - endedAt),
    faults: writers.flatMap((writer) => writer.faults()),
  }
}

const ms = (time: number) => `${Math.round(time)} ms`
const gapsOf = ({ gapsMs }: Round) => addresses.map((address, i) => `${ms(gapsMs[i] as number)} (${address})`).join(', ')

function describeRound(round: Round) {
  const {
    mode,
    ending,
    acknowledged,
    unacknowledged,
    lost,
    announced,
    promotedMs,
    late,
    lateMs,
    repeated,
    undelivered,
    misplaced,
    faults,
  } = round
  return (
    `round ${round.round}, ${mode}, primary ${ending}: promoted after ${ms(promotedMs)}, gap ${gapsOf(round)}, ${acknowledged} acknowledged, ` +
    `${lost} lost${announced ? ` (${announced} messages about them were delivered)` : ''}, ${unacknowledged} without a response or rejected, ` +
    `${late} messages late by up to ${ms(lateMs)}, ${undelivered} undelivered, ${misplaced} out of order, ` +
    `${repeated} sent twice, audit ${round.audit}${faults.map((fault) => `\n  ${fault}`).join('')}`
  )
}

/** One line per mode and ending. */
export const summaryOfFailovers = (rounds: Round[]) =>
  [...Map.groupBy(rounds, ({ mode, ending }) => `${mode}, primary ${ending}`)].map(([name, its]) => summaryOf(name, its)).join('\n')

function summaryOf(name: string, rounds: Round[]) {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const spread = (of: (round: Round) => number) => {
    const sorted = rounds.map(of).sort((a, b) => a - b)
    return `median ${ms(sorted[Math.floor(sorted.length / 2)] as number)}, longest ${ms(sorted.at(-1) as number)}`
  }
  const gaps = addresses.map((address, i) => `gap with ${address} ${spread(({ gapsMs }) => gapsMs[i] as number)}`)
  return (
    `${name}: ${rounds.length} failovers, ${sum((round) => round.acknowledged)} acknowledged, ${sum((round) => round.lost)} lost, ` +
    `${gaps.join('; ')}; ${sum((round) => round.late)} messages late, the last of a round ${spread((round) => round.lateMs)}; ` +
    `${sum((round) => round.undelivered)} undelivered, ${sum((round) => round.misplaced)} out of order, ` +
    `${sum((round) => round.repeated)} sent twice, ${sum((round) => round.faults.length)} faults`
  )
}
