import { appOf, NUMBER_EVENTS, type Service } from '../../../platform/app.ts'
import type { PoolConnection } from '../../../platform/db/open.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { SECOND } from '../../../platform/time.ts'
import { attemptBatcher } from './attempt-batcher.ts'
import { type DeliveryContext, deliverDue, LEASE_MS, settleRuns } from './deliver.ts'
import { startPoller } from './poller.ts'
import * as store from './store-lanes.ts'
import { newWorkerLease } from './worker-lease.ts'

/** The longest time until a due delivery of any process is found. */
const POLL_MS = 250
/** After a database outage every worker has lost its lease, so each gives the others time to return before it frees their lanes. */
const GRACE_MS = SECOND
const STOP_TIMEOUT_MS = 10 * SECOND

type Worker = { wake(webhook_ids: Iterable<string>): void; stop(): Promise<void> }

/** Delivers due messages until it is stopped. Without its lease it claims no lanes, but it still settles those it has sent: each lane has its own lease. */
export async function startWorker(
  service: Service,
  connect: () => Promise<PoolConnection>,
  send: Sender['post'],
  onError: (error: unknown) => void,
  recordMetrics: DeliveryContext['recordMetrics'] = () => {},
): Promise<Worker> {
  const app = appOf(service)
  const due = new Set<string>()
  let heldAt = 0
  let stopping = false
  let pumping: Promise<void> | undefined
  let pumpAgain = false
  const batcher = attemptBatcher<Parameters<DeliveryContext['settle']>[0]>({
    async record(batch) {
      const { more, busy } = await settleRuns(context, batch)
      wake(more)
      return busy
    },
    retryForMs: LEASE_MS,
    abandon: (batch) => {
      context.lanesHeld -= batch.length
    },
    onError,
  })
  const context: DeliveryContext = { app, worker: 0, send, lanesHeld: 0, recordMetrics, settle: batcher.add }

  /** Stops while the capacity is used up. Settling a lane wakes its webhook again. */
  async function pump() {
    while (due.size && lease.isHeld() && !stopping) {
      const webhook_ids = [...due]
      due.clear()
      const { full } = await deliverDue(context, webhook_ids)
      if (!full) continue
      for (const id of webhook_ids) due.add(id)
      return
    }
  }

  function wake(webhook_ids: Iterable<string>) {
    for (const id of webhook_ids) due.add(id)
    if (pumping) pumpAgain = true
    if (pumping || stopping || !lease.isHeld() || !due.size) return
    pumping = pump()
      .catch(onError)
      .finally(() => {
        pumping = undefined
        if (!pumpAgain) return
        pumpAgain = false
        wake([])
      })
  }

  /** Numbers committed events, frees the lanes of dead workers, and finds due webhooks. */
  async function poll() {
    if (!lease.isHeld()) return
    app.wake(NUMBER_EVENTS)
    if (performance.now() - heldAt > GRACE_MS) await store.freeDeadLanes(app.db, app.wall())
    wake(await store.listWebhooksWithWork(app.db, app.wall()))
  }
  const poller = startPoller(poll, POLL_MS, onError)

  const lease = newWorkerLease({
    connect,
    onAcquired(worker) {
      context.worker = worker
      heldAt = performance.now()
      poller.pollNow()
    },
    onNotification(payload) {
      if (!payload) return poller.pollNow()
      app.wake(NUMBER_EVENTS)
      wake(payload.split(','))
    },
    onError,
  })
  await lease.acquire()

  return {
    wake,
    async stop() {
      stopping = true
      batcher.end()
      const giveUpAt = Date.now() + STOP_TIMEOUT_MS
      await Promise.all([pumping, poller.end()])
      while (context.lanesHeld > 0 && Date.now() < giveUpAt) {
        await batcher.flush()
        if (context.lanesHeld > 0) await new Promise((done) => setTimeout(done, 20))
      }
      await store.returnLanes(app.db, context.worker).catch(onError)
      lease.end()
    },
  }
}
