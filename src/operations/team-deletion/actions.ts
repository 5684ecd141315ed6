import { eraseTeamFromLog } from '../../delivery/events/erasure/actions.ts'
import { deleteOrphanedEvents } from '../../labs/orders/progress/actions.ts'
import { deleteOrphanedReports } from '../../labs/results/actions.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { eraseDeletedTeam } from '../../tenants/teams/actions.ts'
import { deleteOrphanedSamples } from '../../wearables/data/samples/erasure.ts'

/** Erases one deleted team whose grace period has ended; returns false if there is none. A later job deletes its log. */
export const eraseNextTeam = (app: App) =>
  inTransaction(app, async (app) => {
    const team_id = await eraseDeletedTeam(app)
    if (!team_id) return false
    await deleteOrphanedEvents(app, team_id)
    await deleteOrphanedReports(app, team_id)
    await deleteOrphanedSamples(app, team_id)
    await eraseTeamFromLog(app, team_id)
    // The owner of its log drops what it holds.
    app.wake('team log', team_id)
    return true
  })
