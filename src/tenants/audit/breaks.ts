import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { auditRow, recordChange, signRow } from './actions.ts'
import { listChain } from './chain.ts'
import { auditKey, auditKeys } from './key.ts'
import * as rules from './rules.ts'
import * as store from './store-breaks.ts'
import { deleteVerified } from './store-verify.ts'
import { isAcknowledged, type ReportedBreak } from './verify.ts'

export { searchUnalerted } from './store-breaks.ts'

/** Open breaks as they were last recorded, without a verification. */
export const countOpenBreaks = async ({ db }: Pick<App, 'db'>) => (await store.countOpenBreaks(db)).count

/** Breaks that nobody was alerted of. */
export const listUnalerted = (app: App, limit: number) => store.listUnalerted(app.db, limit)

/** Returns false if another process alerts about the break. */
export const markAlerted = (app: AppInTransaction, found: store.BreakKey) => store.markAlerted(app.db, found, app.wall())

/** Those of an earlier verification that nobody acknowledged since. */
export async function listStillOpen(app: App, breaks: ReportedBreak[]) {
  const rows = await store.listBreaks(app.db, [...new Set(breaks.map(({ chain_id }) => chain_id))])
  const open = rows.filter((row) => !isAcknowledged(auditKeys(app), row))
  return breaks.filter((one) => open.some(({ chain_id, seq, to_seq }) => chain_id === one.chain_id && seq === one.seq && to_seq === one.to))
}

type Acknowledger = ManagementCaller | { kind: 'operator' }

/** Records in the chain who acknowledged a break. From then on verification accepts it, and the alert ends. */
export const acknowledgeBreak = (
  app: App,
  { chain_id, seq, to, reason }: ReportedBreak,
  by: string,
  actor: Acknowledger = { kind: 'operator' },
) =>
  inTransaction(app, async (app) => {
    const key = { chain_id, seq, to_seq: to }
    if (reason === rules.reasons.unlisted) await listChain(app, chain_id)
    if (reason === rules.reasons.rewritten) await deleteVerified(app.db, chain_id)
    const acknowledgement = { acknowledged_at: app.wall(), acknowledged_by: by, mac: rules.acknowledgementMac(auditKey(app), key, by) }
    // Breaks of these kinds are repaired, and no part of the chain stays untrusted.
    if (reason === rules.reasons.unlisted || reason === rules.reasons.rewritten) await store.deleteBreak(app.db, key)
    else await store.updateBreak(app.db, key, acknowledgement)
    await recordChange(app, await acknowledgementRow(app, { chain_id, seq, to }, by, actor))
  })

async function acknowledgementRow(
  app: AppInTransaction,
  { chain_id, seq, to }: Pick<ReportedBreak, 'chain_id' | 'seq' | 'to'>,
  by: string,
  actor: Acknowledger,
) {
  const { team_id = null, org_id = null } = (await store.findOwner(app.db, chain_id)) ?? {}
  const entry = {
    action: actor.kind === 'operator' ? 'operator audit acknowledge' : 'acknowledgeAuditBreak',
    subject: `seq:${seq} to:${to} by:${by}`,
    status: 200,
  }
  return signRow(app, { ...auditRow(app, actor, entry), chain_id, team_id, org_id })
}
