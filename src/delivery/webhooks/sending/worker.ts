import { appOf, type Service } from '../../../platform/app.ts'
import type { Search } from '../../../platform/db/due-work.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { SECOND } from '../../../platform/time.ts'
import type { WebhookRef } from '../../../platform/webhook-ref.ts'
import { attemptBatcher } from './attempt-batcher.ts'
import { freeAllLanes, freeDeadLanes } from './dead-lanes.ts'
import { type DeliveryContext, endLanes, settleRuns } from './deliver.ts'
import { laneCapacity } from './lane-capacity.ts'
import { startPoller } from './poller.ts'
import { newPump } from './pump.ts'
import * as store from './store-lanes.ts'
import { newWorkerLease } from './worker-lease.ts'

/** After a database outage every worker has lost its lease, so each gives the others time to return before it frees their lanes. */
const GRACE_MS = SECOND
const FREE_EVERY_MS = SECOND
/** Runs that cannot be settled for this long are abandoned, and their messages are sent again. */
const SETTLE_TIMEOUT_MS = 60 * SECOND
const STOP_TIMEOUT_MS = 10 * SECOND
/** A worker that holds few lanes is not busy, so an outcome waits longer for others to be recorded with. Only its own lane waits. */
const FEW_LANES = 16
const [CALM_WAIT_MS, BUSY_WAIT_MS] = [40, 5]

type WorkerOptions = {
  send: Sender['post']
  onError(error: unknown): void
  recordMetrics?: DeliveryContext['recordMetrics']
  /** No other process delivers from this database, so lanes that are claimed at the start belong to dead workers. */
  isAlone?: boolean
}

type Worker = {
  /** Finds due messages that no wake-up named, and claims of dead workers. */
  job: { name: string; search: Search; run(): Promise<void> }
  wake(refs: Iterable<WebhookRef>): void
  stop(): Promise<void>
}

/** Delivers due messages until it is stopped. Without its lease it claims and sends nothing, but it still settles lanes that nobody took over. */
export async function startWorker(service: Service, { send, onError, recordMetrics = () => {}, isAlone }: WorkerOptions): Promise<Worker> {
  const app = appOf(service)
  let freeAt = 0
  const batcher = attemptBatcher<Parameters<DeliveryContext['settle']>[0]>({
    async record(team_id, batch) {
      const { more, busy } = await settleRuns(context, team_id, batch)
      pump.wake(more)
      return busy
    },
    // A lane with several messages may have more.
    waitMs: ({ outcomes }) => (outcomes.length > 1 || context.capacity.total() > FEW_LANES ? BUSY_WAIT_MS : CALM_WAIT_MS),
    retryForMs: SETTLE_TIMEOUT_MS,
    abandon: (team_id, batch) =>
      endLanes(
        context,
        team_id,
        batch.map((run) => run.settled.lease),
      ),
    onError,
  })
  const context: DeliveryContext = {
    app,
    worker: '',
    isAlive: (worker) => worker === context.worker && lease.isHeld(),
    send,
    recordMetrics,
    settle: batcher.add,
    capacity: laneCapacity(),
    claims: new Map(),
  }
  const pump = newPump({ context, isHeld: () => lease.isHeld(), onError })

  /** Frees lanes that no worker is sending, and finds due webhooks. */
  async function poll() {
    if (!lease.isHeld()) return false
    if (performance.now() > freeAt) {
      await freeDeadLanes(app, context)
      freeAt = performance.now() + FREE_EVERY_MS
    }
    const found = await store.listWebhooksWithWork(app.db, app.wall())
    pump.wake(found)
    return found.length > 0
  }
  const poller = startPoller(poll, onError)

  const lease = newWorkerLease({
    db: app.db,
    onAcquired(worker) {
      context.worker = worker
      freeAt = performance.now() + GRACE_MS
      poller.pollNow()
    },
    onError,
  })
  if (isAlone) await freeAllLanes(app)
  await lease.acquire()

  return {
    job: { name: 'find due messages', search: store.searchLanes, run: poller.pollIfIdle },
    wake: pump.wake,
    /** Lanes that cannot be settled in time are left to other workers. */
    async stop() {
      batcher.end()
      const giveUpAt = Date.now() + STOP_TIMEOUT_MS
      await Promise.all([pump.stop(), poller.end()])
      while (context.capacity.total() > 0 && Date.now() < giveUpAt) {
        await batcher.flush()
        if (context.capacity.total() > 0) await new Promise((done) => setTimeout(done, 20))
      }
      await lease.end()
    },
  }
}
