import type { App } from '../../../platform/app.ts'
import { DAY, later } from '../../../platform/time.ts'
import { auditKeys } from '../key.ts'
import { runInThread } from '../threads/run.ts'
import { type DueChain, reviewChains } from './slices.ts'
import * as store from './store.ts'

const CHAINS_AT_ONCE = 500

/**
 * Reads every chain again, a slice at a time and once a day at most, so that a change of an old row raises the alert without an
 * operator who verifies the log. A new chain has no old rows, so its first review is a day later.
 */
export async function reviewAudit(app: App) {
  const at = app.wall()
  const chains = await store.listDue(app.db, later(at, -DAY), CHAINS_AT_ONCE)
  const added = chains.filter(({ seq }) => seq === null)
  if (added.length)
    await store.putReviews(
      app.db,
      added.map(({ chain_id }) => ({ chain_id, seq: 0, reviewed_at: at })),
    )
  const due = chains.filter((chain): chain is DueChain => chain.seq !== null)
  if (!due.length) return
  const [keys, review] = [auditKeys(app), { due, at }]
  // Another connection would not see an open transaction.
  if (app.db.url) await runInThread(app, { url: app.db.url, keys, review })
  else await reviewChains(app.db, keys, review)
}
