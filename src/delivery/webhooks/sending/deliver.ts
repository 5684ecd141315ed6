import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../../platform/app.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import type { Outcome } from '../../../platform/outbound/outcome.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { type WebhookRef, webhookRef, webhooksByTeam } from '../../../platform/webhook-ref.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import { receive } from '../inbox.ts'
import * as rules from '../rules.ts'
import { BREAKER_THRESHOLD } from '../rules-health.ts'
import { attemptOf, bodyOf, headersOfMessage, keyOfMessage, signatureOf } from './contents.ts'
import { emitExhausted } from './exhausted-events.ts'
import { recordHealth } from './health.ts'
import type { LaneCapacity } from './lane-capacity.ts'
import * as store from './store-lanes.ts'

/** Messages of one lane sent before they are settled. */
const MESSAGES_PER_RUN = 8
/** Teams whose lanes are claimed at the same time. */
const CLAIMS_AT_ONCE = 4

type LaneRun = {
  team_id: string
  settled: store.SettledLane & { lease: string }
  attempts: store.NewAttempt[]
  outcomes: Outcome[]
  endpoint: Endpoint
  /** Whether the lane may have more messages, or failed. */
  isUrgent: boolean
}

export type DeliveryContext = {
  app: App
  worker: string
  /** Whether this worker still has the lease that it claimed lanes with. If not, others may be sending them. */
  isAlive(worker: string): boolean
  send: Sender['post']
  settle(run: LaneRun): void
  /** Updates the metrics after attempts are recorded. */
  recordMetrics(attempts: store.NewAttempt[]): void
  capacity: LaneCapacity
  /** The claims of this worker by their lease, with the number of lanes that are not settled yet. */
  claims: Map<string, number>
}

/**
 * Claims due lanes of these webhooks and sends their messages. Returns how many lanes it claimed, the webhooks that may have more,
 * and whether no team had capacity left.
 */
export async function deliverDue(context: DeliveryContext, refs: Iterable<WebhookRef>) {
  let claimed = 0
  let isFull = true
  const waiting: WebhookRef[] = []
  await inParallel(webhooksByTeam(refs), CLAIMS_AT_ONCE, async ([team_id, webhook_ids]) => {
    const { limit, per_webhook } = context.capacity.reserve(team_id)
    if (limit > 0) isFull = false
    const lanes = limit > 0 ? await claimAndSend(context, team_id, { webhook_ids, limit, per_webhook }) : 0
    claimed += lanes
    if (lanes === limit) waiting.push(...webhook_ids.map((id) => webhookRef(team_id, id)))
  })
  return { claimed, waiting, isFull }
}

type Share = { webhook_ids: string[]; limit: number; per_webhook: number }

async function claimAndSend(context: DeliveryContext, team_id: string, share: Share) {
  const { app, worker, capacity, claims } = context
  const now = app.wall()
  const claim = { now, worker, lease: randomUUID() as string }
  const limits = { messages_per_lane: MESSAGES_PER_RUN, breaker_threshold: BREAKER_THRESHOLD }
  claims.set(claim.lease, share.limit)
  const claimed = await store.claimLanes(app.db, team_id, { ...claim, ...share, ...limits }).catch((error) => {
    capacity.release(team_id, share.limit)
    claims.delete(claim.lease)
    throw error
  })
  capacity.release(team_id, share.limit - claimed.length)
  claims.set(claim.lease, claimed.length)
  // Sending is not awaited, so that the next lanes can be claimed.
  if (claimed.length) void sendLanes(context, team_id, claimed, claim)
  else claims.delete(claim.lease)
  return claimed.length
}

/** Lanes are settled, or this worker gives them up. Lanes that it holds without a claim are freed; see dead-lanes.ts. */
export function endLanes({ capacity, claims }: DeliveryContext, team_id: string, leases: string[]) {
  capacity.release(team_id, leases.length)
  for (const lease of leases) {
    const left = (claims.get(lease) ?? 0) - 1
    if (left > 0) claims.set(lease, left)
    else claims.delete(lease)
  }
}

type ClaimedLanes = Awaited<ReturnType<typeof store.claimLanes>>

type Claim = { worker: string; lease: string }

export async function sendLanes(context: DeliveryContext, team_id: string, claimed: ClaimedLanes, claim: Claim) {
  const { app } = context
  try {
    const endpoints = await endpointsOf(
      app,
      team_id,
      claimed.map(({ lane }) => lane),
    )
    for (const { lane, messages } of claimed) {
      const endpoint = endpoints.get(lane.webhook_id)
      // The team was erased after the claim, so the lane no longer exists.
      if (!endpoint) endLanes(context, team_id, [claim.lease])
      else void sendLane(context, lane, claim, endpoint, endpoint.rate_limit ? messages.slice(0, 1) : messages)
    }
  } catch (error) {
    app.log.error({ code: (error as { code?: string }).code }, 'webhook loading failed')
    endLanes(
      context,
      team_id,
      claimed.map(() => claim.lease),
    )
  }
}

/** Sends the messages of a lane in order. Stops at the first failure, or when others may have taken over the lane. */
async function sendLane(
  context: DeliveryContext,
  lane: store.Lane,
  { worker, lease }: Claim,
  endpoint: Endpoint,
  messages: store.Message[],
) {
  const settled = { ...lane, lease, run_at: null }
  const run: LaneRun = { team_id: endpoint.team_id, settled, attempts: [], outcomes: [], endpoint, isUrgent: true }
  try {
    for (const message of messages) if (!context.isAlive(worker) || !(await sendMessage(context, run, message))) break
  } catch (error) {
    // An internal failure is retried and must not end the worker. After a database outage it is retried at once.
    context.app.log.error({ webhook_id: lane.webhook_id, code: (error as { code?: string }).code }, 'delivery failed internally')
    if (!isDatabaseUnavailable(error)) run.settled.run_at = later(context.app.wall(), 30 * SECOND)
  }
  run.isUrgent = messages.length > 1 || !run.outcomes.every(({ ok }) => ok)
  context.settle(run)
}

async function sendMessage({ app, send }: DeliveryContext, run: LaneRun, message: store.Message): Promise<boolean> {
  const { settled, endpoint } = run
  // The user was erased, so there is no payload left to deliver.
  if (!message.sealed) {
    settled.head = message.n
    return true
  }
  const key = message.sealingKey ?? (await keyOfMessage(app, message))
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

/** Settles runs of a team and records the health of their webhooks. Returns the webhooks with more to do, and the runs to settle later. */
export async function settleRuns(context: DeliveryContext, team_id: string, runs: LaneRun[]) {
  const { app } = context
  const settled = await recordRuns(app, team_id, runs)
  const busyLanes = new Set(settled.filter(({ busy }) => busy).map(({ lane_id }) => lane_id))
  const [busy, done] = [runs.filter(isAmong(busyLanes)), runs.filter((run) => !isAmong(busyLanes)(run))]
  endLanes(
    context,
    team_id,
    done.map((run) => run.settled.lease),
  )
  context.recordMetrics(done.flatMap((run) => run.attempts))
  // A failure here must not repeat the settlement. The next failed delivery records the same health again.
  await recordHealth(app, team_id, done).catch((error: { code?: string }) =>
    app.log.error({ code: error.code }, 'webhook health update failed'),
  )
  const unfinished = settled.filter(({ more, busy }) => more && !busy).map(({ webhook_id }) => webhookRef(team_id, webhook_id))
  return { busy, more: new Set(unfinished) }
}

const isAmong = (lanes: Set<string>) => (run: LaneRun) => lanes.has(run.settled.id)

/** The event about an exhausted message commits with the settlement that exhausts it. */
async function recordRuns(app: App, team_id: string, runs: LaneRun[]) {
  const attempts = runs.flatMap((run) => run.attempts)
  const settlement = { lanes: runs.map((run) => run.settled), attempts, now: app.wall() }
  if (attempts.every(({ outcome }) => outcome !== 'exhausted')) return store.settleLanes(app.db, team_id, settlement)
  return inTransaction(app, async (app) => {
    const settled = await store.settleLanes(app.db, team_id, settlement)
    const settledLanes = new Set(settled.filter(({ busy }) => !busy).map(({ lane_id }) => lane_id))
    await emitExhausted(
      app,
      runs.filter(isAmong(settledLanes)).flatMap((run) => run.attempts),
    )
    return settled
  })
}
