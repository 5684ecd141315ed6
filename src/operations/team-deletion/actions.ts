import { eraseTeamFromLog } from '../../delivery/events/erasure.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { eraseDeletedTeam } from '../../tenants/teams/actions.ts'

/** Erases one deleted team whose grace period has ended; returns false if there is none. A later job deletes its log. */
export const eraseNextTeam = (app: App) =>
  inTransaction(app, async (app) => {
    const team_id = await eraseDeletedTeam(app)
    if (!team_id) return false
    await eraseTeamFromLog(app, team_id)
    return true
  })
