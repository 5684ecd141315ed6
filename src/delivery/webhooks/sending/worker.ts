import { appOf, NUMBER, type Service } from '../../../platform/app.ts'
import type { PoolConnection } from '../../../platform/db/open.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { SECOND } from '../../../platform/time.ts'
import { attemptBatcher } from './attempt-batcher.ts'
import { type DeliveryContext, deliverDue, LEASE, settleRuns } from './deliver.ts'
import { startPoller } from './poller.ts'
import * as store from './store-lanes.ts'
import { newWorkerLease } from './worker-lease.ts'

/** How long after a change at the latest everything due is looked for, whoever made the change. */
const POLL = 250
/** When PostgreSQL was away everybody lost the line, so a worker lets the others come back and settle before it takes them for dead. */
const GRACE = SECOND
const END_WITHIN = 10 * SECOND

export type Worker = { wake(webhook_ids: Iterable<string>): void; stop(): Promise<void> }

/** Delivers what is due until it is stopped. Without its line it takes nothing in hand; what it had sent by then it still settles: leases tell. */
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

  /** What found no room waits until something is settled; so does a webhook that has its share in hand. */
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

  /** Has the log numbered what was committed, frees what the dead held, and finds what is due. */
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
