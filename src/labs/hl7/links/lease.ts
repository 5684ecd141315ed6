import { randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { later, MINUTE } from '../../../platform/time.ts'
import * as store from './store-leases.ts'

/** Longer than an exchange with a lab that does not answer takes, apart from its time-out. */
const LEASE_MS = MINUTE

/** Extends the lease for work that can take this much longer; false if another process has it. */
export type Renew = (extraMs?: number) => Promise<boolean>

/** Runs the work of a lab in one process at a time. The work renews the lease before each message. */
export async function withLease(app: App, lab_id: number, task: 'send' | 'file', work: (renew: Renew) => Promise<void>) {
  const lease = { lab_id, task, holder: randomUUID() }
  const renew: Renew = (extraMs = 0) => store.takeLease(app.db, { ...lease, held_until: later(app.wall(), LEASE_MS + extraMs) }, app.wall())
  if (!(await renew())) return
  try {
    await work(renew)
  } finally {
    await store.endLease(app.db, lease)
  }
}
