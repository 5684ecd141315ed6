import { isDatabaseUnavailable } from '../../../../platform/db/errors.ts'
import { runAgain } from '../../../../platform/run-again.ts'
import { SECOND } from '../../../../platform/time.ts'
import { type Endpoint, endpointsOf } from '../../endpoints.ts'
import { BREAKER_THRESHOLD } from '../../rules-health.ts'
import type { SendingContext } from '../context.ts'
import { STRICT } from '../rules-filters.ts'
import { type Exchange, exchange } from './exchange.ts'
import type { Item } from './queues.ts'
import { newRate } from './rate.ts'
import type { RunState } from './run-state.ts'

const REQUESTS_AT_ONCE = 64
const INTERNAL_RETRY_MS = 30 * SECOND
const RETRY_MS = SECOND

export type Result = Exchange & { at: string; probed: string | null }

type Parts = {
  context: SendingContext
  run: RunState
  settle(item: Item, endpoint: Endpoint, result: Result): void
  /** Reads the message of an erased user again. Returns false for any other. */
  rereadErased(item: Item): boolean
  /** A request has ended, or could not begin. */
  onIdle(): void
}

export type Requests = ReturnType<typeof openRequests>

/** Sends the messages of a webhook that are ready, within its limits, and holds one back that is not due yet. */
export function openRequests({ context, run, settle, rereadErased, onIdle }: Parts) {
  const { app } = context
  const { team_id, webhook_id, queues } = run
  /** Messages that are being sent, and since when. */
  const inFlight = new Map<Item, string>()
  const rate = newRate(Date.parse(app.wall()))
  let rateTimer: NodeJS.Timeout | undefined
  const sending = runAgain(() => sendAll().catch(retrySoon))

  function sendReady() {
    if (queues.hasReady() && !run.isClosed && !run.isPaused()) sending.run()
  }

  const isProbing = () => run.breaker.failures >= BREAKER_THRESHOLD
  const hasRoom = () => inFlight.size < (isProbing() ? 1 : REQUESTS_AT_ONCE)

  async function sendAll() {
    const endpoint = (await endpointsOf(app, team_id, [{ webhook_id, revision: run.state?.revision ?? 0 }])).get(webhook_id)
    while (endpoint && !run.isClosed && !run.isPaused() && context.isHeld() && queues.hasReady()) {
      if (!hasRoom() || context.requests.room(team_id) <= 0) return
      if (!rate.take(run.state?.rate_limit ?? null, Date.parse(app.wall()))) return waitForRate()
      const item = queues.take(isProbing()) as Item
      const { retryAt } = run.waiting
      if (item.key === STRICT && !item.replay && retryAt && retryAt > app.wall()) return holdStrict(item)
      void sendItem(item, endpoint)
    }
  }

  function waitForRate() {
    clearTimeout(rateTimer)
    rateTimer = setTimeout(sendReady, rate.waitMs(run.state?.rate_limit ?? 1))
  }

  /** The key stays busy. */
  function putBack(item: Item) {
    queues.putBack(item)
    queues.hold(item.key)
  }

  function holdStrict(item: Item) {
    run.waiting.isHeld = true
    putBack(item)
  }

  function releaseStrict() {
    run.waiting.isHeld = false
    queues.free(STRICT)
  }

  async function sendItem(item: Item, endpoint: Endpoint) {
    const at = app.wall()
    const probed = run.breaker.paused_until
    inFlight.set(item, at)
    context.requests.take(team_id)
    const result = await exchange(context, run, endpoint, item, at).catch((error: unknown) => ({ error }))
    context.requests.release(team_id)
    inFlight.delete(item)
    if (run.isClosed) return
    if ('error' in result) retryLater(item, result.error)
    // The process is stopping, so this does not count as an attempt.
    else if (result.outcome.error !== 'aborted') settle(item, endpoint, { ...result, at, probed })
    onIdle()
  }

  function logFailure(error: unknown) {
    app.log.error({ webhook_id, code: (error as { code?: string }).code }, 'delivery failed internally')
  }

  /** An internal failure is no attempt. After a database outage the message is sent again at once. */
  function retryLater(item: Item, error: unknown) {
    logFailure(error)
    if (rereadErased(item)) return
    putBack(item)
    setTimeout(
      () => {
        queues.free(item.key)
        sendReady()
      },
      isDatabaseUnavailable(error) ? RETRY_MS : INTERNAL_RETRY_MS,
    )
  }

  function retrySoon(error: unknown) {
    logFailure(error)
    setTimeout(onIdle, RETRY_MS)
  }

  return {
    inFlight,
    hasRoom,
    sendReady,
    retrySoon,
    putBack,
    /** Sends the message again at which a webhook with strict order waits, once it is due. */
    retryStrict() {
      const { isHeld, retryAt } = run.waiting
      if (!isHeld || (retryAt && retryAt > app.wall())) return
      releaseStrict()
    },
    releaseStrict,
    isSending: sending.isRunning,
    close: () => clearTimeout(rateTimer),
  }
}
