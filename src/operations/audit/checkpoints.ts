import { emitForTeam } from '../../delivery/events/emit.ts'
import { listTeamsNaming } from '../../delivery/webhooks/subscriptions.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { hasAnchors, keepHead, writeCheckpoint } from '../../tenants/audit/checkpoints/actions.ts'

const EVENT_TYPE = 'audit.checkpoint'

/** Writes the ends of the audit chains outside the database, and sends teams that want it the end of their own chain. */
export async function checkpointAudit(app: App) {
  const team_ids = new Set(await listTeamsNaming(app, EVENT_TYPE))
  if (!team_ids.size && !hasAnchors(app)) return
  for (const head of await writeCheckpoint(app, team_ids))
    await inTransaction(app, async (app) => {
      await keepHead(app, head)
      if (team_ids.has(head.chain_id))
        await emitForTeam(app, { team_id: head.chain_id, event_type: EVENT_TYPE, key: 'audit', data: head, at: head.at })
    })
}
