import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { Outcome } from '../../../platform/outbound/outcome.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import { receive } from '../inbox.ts'
import * as rules from '../rules.ts'
import { BREAKER_THRESHOLD } from '../rules-health.ts'
import { attemptOf, bodyOf, headersOfMessage, keyOfMessage, signatureOf } from './contents.ts'
import { emitExhausted } from './exhausted-events.ts'
import { recordHealth } from './health.ts'
import * as store from './store-lanes.ts'

/** Messages of one lane sent before they are settled. */
const MESSAGES_PER_RUN = 8
/** Lanes one worker holds at once, and how many of them for one webhook. */
const MAX_LANES = 256
const MAX_LANES_PER_WEBHOOK = 64
export const LEASE_MS = 60 * SECOND

type LaneRun = { settled: store.SettledLane & { lease: string }; attempts: store.NewAttempt[]; outcomes: Outcome[]; endpoint: Endpoint }

export type DeliveryContext = {
  app: App
  worker: number
  send: Sender['post']
  settle(run: LaneRun): void
  /** Updates the metrics after attempts are recorded. */
  recordMetrics(attempts: store.NewAttempt[]): void
  lanesHeld: number
}

/** Claims due lanes of these webhooks and sends their messages. Returns how many lanes it claimed, and whether its capacity is used up. */
export async function deliverDue(context: DeliveryContext, webhook_ids: string[]) {
  const { app, worker } = context
  const capacity = MAX_LANES - context.lanesHeld
  if (capacity <= 0) return { claimed: 0, full: true }
  const now = app.wall()
  const lease = randomUUID()
  const until = later(now, LEASE_MS)
  // No webhook takes all of the remaining capacity, so a few slow ones cannot block the others.
  const share = {
    limit: capacity,
    per_webhook: Math.min(MAX_LANES_PER_WEBHOOK, Math.ceil(capacity / 2)),
    messages_per_lane: MESSAGES_PER_RUN,
    breaker_threshold: BREAKER_THRESHOLD,
  }
  const claimed = await store.claimLanes(app.db, { webhook_ids, now, worker, lease, until, ...share })
  context.lanesHeld += claimed.length
  // Sending is not awaited, so that the next lanes can be claimed.
  if (claimed.length) void sendLanes(context, claimed, lease)
  return { claimed: claimed.length, full: claimed.length === capacity }
}

type ClaimedLanes = Awaited<ReturnType<typeof store.claimLanes>>

async function sendLanes(context: DeliveryContext, claimed: ClaimedLanes, lease: string) {
  const { app, worker } = context
  try {
    const endpoints = await endpointsOf(
      app,
      claimed.map(({ lane }) => lane),
    )
    for (const { lane, messages } of claimed) {
      const endpoint = endpoints.get(lane.webhook_id)
      // The team was erased after the claim, so the lane no longer exists.
      if (!endpoint) context.lanesHeld--
      else void sendLane(context, lane, lease, endpoint, endpoint.rate_limit ? messages.slice(0, 1) : messages)
    }
  } catch (error) {
    app.log.error({ code: (error as { code?: string }).code }, 'webhook loading failed')
    context.lanesHeld -= claimed.length
    await store.returnLanes(app.db, worker, lease).catch(() => {})
  }
}

/** Sends the messages of a lane in order and stops at the first failure. */
async function sendLane(context: DeliveryContext, lane: store.Lane, lease: string, endpoint: Endpoint, messages: store.Message[]) {
  const run: LaneRun = { settled: { ...lane, lease, run_at: null }, attempts: [], outcomes: [], endpoint }
  try {
    for (const message of messages) if (!(await sendMessage(context, run, message))) break
  } catch (error) {
    // An internal failure is retried and must not end the worker.
    context.app.log.error({ webhook_id: lane.webhook_id, code: (error as { code?: string }).code }, 'delivery failed internally')
    run.settled.run_at = later(context.app.wall(), 30 * SECOND)
  }
  context.settle(run)
}

async function sendMessage({ app, send }: DeliveryContext, run: LaneRun, message: store.Message): Promise<boolean> {
  const { settled, endpoint } = run
  // The user was erased, so there is no payload left to deliver.
  if (!message.sealed) {
    settled.head = message.n
    return true
  }
  const key = await keyOfMessage(app, message)
  const body = bodyOf(key, message)
  const at = app.wall()
  const signature = signatureOf(endpoint, message, body, at)
  const headers = { ...endpoint.headers, ...headersOfMessage(message, signature, at) }
  const outcome = endpoint.inbox
    ? await receive(app, key, endpoint, { user_id: message.user_id, headers, body })
    : await send({ url: endpoint.url, headers, body })
  // The process is stopping, so this does not count as an attempt.
  if (outcome.error === 'aborted') return false
  const attempt = settled.attempts + 1
  const verdict = rules.afterAttempt({ attempts: attempt, outcome, at: app.wall(), random: Math.random() })
  run.outcomes.push(outcome)
  if (!endpoint.inbox) run.attempts.push(attemptOf(key, endpoint, message, { attempt, at, outcome, verdict, signature }))
  if (verdict.state === 'waiting') {
    settled.attempts = attempt
    settled.run_at = verdict.due_at
    return false
  }
  settled.head = message.n
  settled.attempts = 0
  return true
}

/** Settles runs and records the health of their webhooks. Returns the webhooks with more to do, and the runs to settle later. */
export async function settleRuns(context: DeliveryContext, runs: LaneRun[]) {
  const { app } = context
  const settled = await recordRuns(app, runs)
  const busyLanes = new Set(settled.filter(({ busy }) => busy).map(({ id }) => id))
  const [busy, done] = [runs.filter(isAmong(busyLanes)), runs.filter((run) => !isAmong(busyLanes)(run))]
  context.lanesHeld -= done.length
  context.recordMetrics(done.flatMap((run) => run.attempts))
  // A failure here must not repeat the settlement. The next failed delivery records the same health again.
  await recordHealth(app, done).catch((error: { code?: string }) => app.log.error({ code: error.code }, 'webhook health update failed'))
  return { busy, more: new Set(settled.filter(({ more, busy }) => more && !busy).map(({ webhook_id }) => webhook_id)) }
}

const isAmong = (lanes: Set<number>) => (run: LaneRun) => lanes.has(run.settled.id)

/** The event about an exhausted message commits with the settlement that exhausts it. */
async function recordRuns(app: App, runs: LaneRun[]) {
  const attempts = runs.flatMap((run) => run.attempts)
  const settlement = { lanes: runs.map((run) => run.settled), attempts, now: app.wall() }
  if (attempts.every(({ outcome }) => outcome !== 'exhausted')) return store.settleLanes(app.db, settlement)
  return inTransaction(app, async (app) => {
    const settled = await store.settleLanes(app.db, settlement)
    const settledLanes = new Set(settled.filter(({ busy }) => !busy).map(({ id }) => id))
    await emitExhausted(
      app,
      runs.filter(isAmong(settledLanes)).flatMap((run) => run.attempts),
    )
    return settled
  })
}
