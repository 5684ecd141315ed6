import { randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { isStopping } from './each-lab.ts'
import * as store from './store-leases.ts'

/** If a process is killed, another one takes over after this time. */
const LEASE_MS = 5 * SECOND
const RENEW_MS = SECOND

/** Whether this process may go on. It stops before another one can take over. */
export type IsHeld = () => boolean

/** A process takes its own leases again. */
const holderOf = declareCache(() => ({ id: randomUUID() }))

type Options = {
  /** How long the process keeps the lease after the work, for work that it repeats. */
  keepMs?: () => number
}

/** Runs the work of a lab in one process at a time. The lease is renewed in the background. */
export async function withLease(
  app: App,
  lab_id: number,
  task: string,
  work: (isHeld: IsHeld) => Promise<void>,
  { keepMs = () => 0 }: Options = {},
) {
  const lease = { lab_id, task, holder: holderOf(app).id }
  let heldUntil = 0
  const take = async (ms = LEASE_MS) => {
    const startedAt = performance.now()
    const isTaken = await store.takeLease(app.db, { ...lease, held_until: later(app.wall(), ms) }, app.wall())
    heldUntil = isTaken ? startedAt + ms - RENEW_MS : 0
    return isTaken
  }
  if (!(await take())) return
  let renewal: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    // Without the database the lease runs out, and the work stops.
    renewal = take().catch(() => {})
  }, RENEW_MS)
  try {
    await work(() => performance.now() < heldUntil && !isStopping(app))
  } finally {
    clearInterval(timer)
    await renewal
    const ms = isStopping(app) ? 0 : keepMs()
    if (ms) await take(ms + LEASE_MS)
    else await store.endLease(app.db, lease)
  }
}
