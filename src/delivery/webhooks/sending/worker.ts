import { appOf, NUMBER, type Service } from '../../../platform/app.ts'
import type { PoolConnection } from '../../../platform/db/open.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { SECOND } from '../../../platform/time.ts'
import { attemptBatcher } from './attempt-batcher.ts'
import { type DeliveryContext, deliverDue, LEASE, settleRuns } from './deliver.ts'
import { startPoller } from './poller.ts'
import * as store from './store-lanes.ts'
import { newWorkerLease } from './worker-lease.ts'

/** The longest time until a due delivery is found, whichever process wrote it. */
const POLL = 250
/** After a database outage every worker has lost its lease, so each gives the others time to return before it frees their lanes. */
const GRACE = SECOND
const END_WITHIN = 10 * SECOND

export type Worker = { wake(webhook_ids: Iterable<string>): void; stop(): Promise<void> }

/** Delivers due messages until it is stopped. Without its lease it claims nothing, but it still settles what it has sent: lane leases decide. */
export async function startWorker(
  service: Service,
  connect: () => Promise<PoolConnection>,
  send: Sender['post'],
  failed: (error: unknown) => void,
  noted: DeliveryContext['noted'] = () => {},
): Promise<Worker> {
  const app = appOf(service)
  const hot = new Set<string>()
  let heldAt = 0
  let stopping = false
  let pumping: Promise<void> | undefined
  let again = false
  const turns = attemptBatcher<Parameters<DeliveryContext['settle']>[0]>({
    async record(batch) {
      const { more, busy } = await settleRuns(courier, batch)
      wake(more)
      return busy
    },
    patienceMs: LEASE,
    leave: (batch) => {
      courier.inHand -= batch.length
    },
    failed,
  })
  const courier: DeliveryContext = { app, worker: 0, send, inHand: 0, noted, settle: turns.add }

  /** A webhook without free capacity waits until something is settled, and so does one that has used its share. */
  async function pump() {
    while (hot.size && line.isHeld() && !stopping) {
      const asked = [...hot]
      hot.clear()
      const { full } = await deliverDue(courier, asked)
      if (!full) continue
      for (const id of asked) hot.add(id)
      return
    }
  }

  function wake(webhook_ids: Iterable<string>) {
    for (const id of webhook_ids) hot.add(id)
    if (pumping) again = true
    if (pumping || stopping || !line.isHeld() || !hot.size) return
    pumping = pump()
      .catch(failed)
      .finally(() => {
        pumping = undefined
        if (!again) return
        again = false
        wake([])
      })
  }

  /** Numbers committed events, frees the lanes of dead workers, and finds due webhooks. */
  async function look() {
    if (!line.isHeld()) return
    app.wake(NUMBER)
    if (performance.now() - heldAt > GRACE) await store.freeDeadLanes(app.db, app.wall())
    wake(await store.webhooksWithWork(app.db, app.wall()))
  }
  const looks = startPoller(look, POLL, failed)

  const line = newWorkerLease({
    connect,
    held(worker) {
      courier.worker = worker
      heldAt = performance.now()
      looks.now()
    },
    heard(payload) {
      if (!payload) return looks.now()
      app.wake(NUMBER)
      wake(payload.split(','))
    },
    failed,
  })
  await line.hold()

  return {
    wake,
    async stop() {
      stopping = true
      turns.end()
      const giveUpAt = Date.now() + END_WITHIN
      await Promise.all([pumping, looks.end()])
      while (courier.inHand > 0 && Date.now() < giveUpAt) {
        await turns.flush()
        if (courier.inHand > 0) await new Promise((done) => setTimeout(done, 20))
      }
      await store.returnLanes(app.db, courier.worker).catch(failed)
      line.end()
    },
  }
}
