import { eraseUsersFromLog } from '../../delivery/events/erasure/actions.ts'
import { emitUserDeleted, emitUserDeletionUndone, keepDeletionEvents } from '../../delivery/events/user-events.ts'
import { cancelVisitsOf } from '../../labs/appointments/actions.ts'
import { forgetPatients } from '../../labs/orders/progress/actions.ts'
import { forgetAcknowledgments } from '../../labs/results/critical.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as users from '../../tenants/users/actions.ts'
import { endConnections } from '../../wearables/connections/actions.ts'
import { deleteSamplesOf } from '../../wearables/data/samples/erasure.ts'
import { recordErasures } from './certificate.ts'

/** Deletes a user, cancels visits and ends connections in one transaction. Undoing the deletion does not restore them. */
export const deleteUser = (app: App, caller: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    const user = await users.scheduleDeletion(app, caller, user_id)
    await cancelVisitsOf(app, caller.team_id, user_id)
    await endConnections(app, caller, user_id)
    await emitUserDeleted(app, user)
    return { success: true }
  })

export const undoDeleteUser = (app: App, caller: TeamCaller, ids: users.UserIds) =>
  inTransaction(app, async (app) => {
    const user = await users.cancelDeletion(app, caller, ids)
    await emitUserDeletionUndone(app, user)
    // The audit log needs the user_id when the request sent a client_user_id; the response drops the field.
    return { success: true, user_id: user.user_id }
  })

const ERASURE_BATCH = 500
const TEAM_BATCH = 100

/** Erases users of any team whose grace period has ended; returns whether more may remain. */
export async function eraseDueUsers(app: App) {
  let erased = 0
  for (const team_id of await users.findTeamsWithUsersToErase(app, TEAM_BATCH)) erased += await eraseDueUsersOf(app, team_id)
  return erased > 0
}

/**
 * Erases users of a team whose grace period has ended, and returns how many. Their orders stay, without personal data. A later job
 * erases them from the log, where nothing is readable without their keys.
 */
export const eraseDueUsersOf = (app: App, team_id: string) =>
  inTransaction(app, async (app) => {
    const user_ids = await users.lockUsersToErase(app, team_id, ERASURE_BATCH)
    if (!user_ids.length) return 0
    await recordErasures(app, team_id, user_ids)
    await forgetAcknowledgments(app, team_id, user_ids)
    await forgetPatients(app, team_id, user_ids)
    await users.eraseUsers(app, team_id, user_ids)
    await deleteSamplesOf(app, team_id, user_ids)
    await eraseUsersFromLog(app, team_id, user_ids)
    await keepDeletionEvents(app, team_id, user_ids)
    return user_ids.length
  })
