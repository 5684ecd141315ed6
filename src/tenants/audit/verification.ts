import type { App } from '../../platform/app.ts'
import { auditKeys } from './key.ts'
import { runInThread } from './threads/run.ts'
import { type Verification, type VerifyOptions, verifyChains } from './verify.ts'

type Options = Pick<VerifyOptions, 'chain_ids' | 'full'>

/**
 * Verifies every chain up to its recorded end, or those with the IDs, and remembers how far. It takes as long as the log has new
 * rows, so a thread with a connection of its own does it while the process serves requests.
 */
export const verifyAudit = (app: App, options: Options = {}) => verify(app, { ...options, at: app.wall(), remembers: true })

/** Verifies every row of every chain without writing anything. */
export const checkAudit = (app: App) => verify(app, { full: true, at: app.wall() })

async function verify({ db, ...app }: App, options: VerifyOptions): Promise<Verification> {
  const keys = auditKeys(app)
  // Another connection would not see an open transaction.
  if (!db.url) return verifyChains(db, keys, options)
  return runInThread(app, { url: db.url, keys, options })
}
