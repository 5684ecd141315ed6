import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { Outcome } from '../../../platform/outbound/outcome.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import { receive } from '../inbox.ts'
import * as rules from '../rules.ts'
import { SUSPECT } from '../rules-health.ts'
import { attemptOf, bodyOf, headersOfMessage, keyOfMessage, signatureOf } from './contents.ts'
import { emitExhausted } from './exhausted.ts'
import { noteHealth } from './health.ts'
import * as store from './store-lanes.ts'

/** How many messages of a lane are sent before they are settled. */
const IN_A_ROW = 8
/** How many lanes one worker has in hand, and how many of one webhook. */
const AT_ONCE = 256
const OF_ONE = 64
export const LEASE = 60 * SECOND

type LaneRun = { settled: store.SettledLane & { lease: string }; attempts: store.NewAttempt[]; outcomes: Outcome[]; endpoint: Endpoint }

export type DeliveryContext = {
  app: App
  worker: number
  send: Sender['post']
  settle(turn: LaneRun): void
  /** Measures what was recorded. */
  noted(attempts: store.NewAttempt[]): void
  inHand: number
}

/** Claims due lanes of these webhooks and sends their messages; answers how many lanes it took, and whether that was all there was room for. */
export async function deliverDue(courier: DeliveryContext, webhook_ids: string[]) {
  const { app, worker } = courier
  const room = AT_ONCE - courier.inHand
  if (room <= 0) return { took: 0, full: true }
  const now = app.wall()
  const lease = randomUUID()
  const until = later(now, LEASE)
  // Nobody takes all the room that is left, so that a few slow webhooks do not take everybody's.
  const share = { most: room, each: Math.min(OF_ONE, Math.ceil(room / 2)), in_a_row: IN_A_ROW, suspect: SUSPECT }
  const claimed = await store.claimLanes(app.db, { webhook_ids, now, worker, lease, until, ...share })
  courier.inHand += claimed.length
  // The next lanes are claimed while these are sent.
  if (claimed.length) void sendLanes(courier, claimed, lease)
  return { took: claimed.length, full: claimed.length === room }
}

type Claimed = Awaited<ReturnType<typeof store.claimLanes>>

async function sendLanes(courier: DeliveryContext, claimed: Claimed, lease: string) {
  const { app, worker } = courier
  try {
    const endpoints = await endpointsOf(
      app,
      claimed.map(({ lane }) => lane),
    )
    for (const { lane, messages } of claimed) {
      const endpoint = endpoints.get(lane.webhook_id)
      // Its team was erased since the claim, and the lane with it.
      if (!endpoint) courier.inHand--
      else void sendLane(courier, lane, lease, endpoint, endpoint.rate_limit ? messages.slice(0, 1) : messages)
    }
  } catch (error) {
    app.log.error({ code: (error as { code?: string }).code }, 'webhooks could not be loaded')
    courier.inHand -= claimed.length
    await store.returnLanes(app.db, worker, lease).catch(() => {})
  }
}

/** Sends the messages of a lane in their order and stops at the first that fails. */
async function sendLane(courier: DeliveryContext, lane: store.Lane, lease: string, endpoint: Endpoint, messages: store.Message[]) {
  const turn: LaneRun = { settled: { ...lane, lease, run_at: null }, attempts: [], outcomes: [], endpoint }
  try {
    for (const message of messages) if (!(await sendOne(courier, turn, message))) break
  } catch (error) {
    // What cannot be sent for a reason of ours is tried again; it must not take the worker down.
    courier.app.log.error({ webhook_id: lane.webhook_id, code: (error as { code?: string }).code }, 'a message could not be sent')
    turn.settled.run_at = later(courier.app.wall(), 30 * SECOND)
  }
  courier.settle(turn)
}

async function sendOne({ app, send }: DeliveryContext, turn: LaneRun, message: store.Message): Promise<boolean> {
  const { settled, endpoint } = turn
  // The user was erased, and with it what was to be told.
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
  // We are stopping: nothing came of it, so it is nothing that was tried.
  if (outcome.error === 'aborted') return false
  const attempt = settled.attempts + 1
  const verdict = rules.afterAttempt({ attempts: attempt, outcome, at: app.wall(), random: Math.random() })
  turn.outcomes.push(outcome)
  if (!endpoint.inbox) turn.attempts.push(attemptOf(key, endpoint, message, { attempt, at, outcome, verdict, signature }))
  if (verdict.state === 'waiting') {
    settled.attempts = attempt
    settled.run_at = verdict.due_at
    return false
  }
  settled.head = message.n
  settled.attempts = 0
  return true
}

/** Records what came of turns and what it says about the health of their webhooks. Answers the webhooks that have more to do, and what is to be settled later. */
export async function settleRuns(courier: DeliveryContext, turns: LaneRun[]) {
  const { app } = courier
  const settled = await record(app, turns)
  const waiting = new Set(settled.filter(({ busy }) => busy).map(({ id }) => id))
  const [busy, done] = [turns.filter(isOf(waiting)), turns.filter((turn) => !isOf(waiting)(turn))]
  courier.inHand -= done.length
  courier.noted(done.flatMap((turn) => turn.attempts))
  // What was recorded must not be recorded once more because this fails; the next failure says the same again.
  await noteHealth(app, done).catch((error: { code?: string }) => app.log.error({ code: error.code }, 'health could not be noted'))
  return { busy, more: new Set(settled.filter(({ more, busy }) => more && !busy).map(({ webhook_id }) => webhook_id)) }
}

const isOf = (lanes: Set<number>) => (turn: LaneRun) => lanes.has(turn.settled.id)

/** That a message is given up is told in the transaction that gives it up. */
async function record(app: App, turns: LaneRun[]) {
  const attempts = turns.flatMap((turn) => turn.attempts)
  const settlement = { lanes: turns.map((turn) => turn.settled), attempts, now: app.wall() }
  if (attempts.every(({ outcome }) => outcome !== 'exhausted')) return store.settleLanes(app.db, settlement)
  return inTransaction(app, async (app) => {
    const settled = await store.settleLanes(app.db, settlement)
    const held = new Set(settled.filter(({ busy }) => !busy).map(({ id }) => id))
    await emitExhausted(
      app,
      turns.filter(isOf(held)).flatMap((turn) => turn.attempts),
    )
    return settled
  })
}
