import { emitForTeam } from '../../delivery/events/emit.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { listUnalerted, markAlerted } from '../../tenants/audit/breaks.ts'
import { listTeamsOfChain } from '../../tenants/teams/actions.ts'

type AuditBreak = Awaited<ReturnType<typeof listUnalerted>>[number]

const BATCH_SIZE = 100

/** Logs new breaks of the audit log, and notifies the teams of each chain. Returns whether there may be more. */
export async function alertAuditBreaks(app: App) {
  const breaks = await listUnalerted(app, BATCH_SIZE)
  for (const found of breaks) await alert(app, found)
  return breaks.length === BATCH_SIZE
}

const alert = (app: App, found: AuditBreak) =>
  inTransaction(app, async (app) => {
    if (!(await markAlerted(app, found))) return
    const { chain_id, seq, to_seq: to, reason, found_at } = found
    app.log.error({ chain_id, seq, to, reason }, 'audit log broken')
    const data = { chain_id, seq, to, reason, found_at }
    for (const team_id of await listTeamsOfChain(app, chain_id))
      await emitForTeam(app, { team_id, event_type: 'audit.broken', key: 'audit', data, at: found_at })
  })
