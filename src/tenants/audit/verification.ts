import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { App } from '../../platform/app.ts'
import { auditKeys } from './key.ts'
import { type Verification, type VerifyOptions, verifyChains } from './verify.ts'
import type { AuditTask } from './verify-thread.ts'

type Options = Pick<VerifyOptions, 'chain_ids' | 'full'>

/**
 * Verifies every chain up to its recorded end, or those with the IDs, and remembers how far. It takes as long as the log has new
 * rows, so a thread with a connection of its own does it while the process serves requests.
 */
export const verifyAudit = (app: App, options: Options = {}) => verify(app, { ...options, remember: { at: app.wall() } })

/** Verifies every row of every chain without writing anything. */
export const checkAudit = (app: App) => verify(app, { full: true })

async function verify({ db, ...app }: App, options: VerifyOptions): Promise<Verification> {
  const keys = auditKeys(app)
  // Another connection would not see an open transaction.
  if (!db.url) return verifyChains(db, keys, options)
  return runInThread({ url: db.url, keys, options })
}

/** Runs a task in a thread with a connection of its own, and returns its result. */
export async function runInThread(task: AuditTask) {
  const [result] = await once(new Worker(new URL('./verify-thread.ts', import.meta.url), { workerData: task }), 'message')
  return result
}
