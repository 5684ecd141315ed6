import { emitUserDeleted, emitUserDeletionUndone, keepDeletionEvents } from '../../delivery/events/user-events.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as users from '../../tenants/users/actions.ts'
import { endConnections } from '../../wearables/connections/actions.ts'

/** Deletes a user and ends the user's connections in one transaction. Undoing the deletion does not restore them. */
export const deleteUser = (app: App, caller: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    const user = await users.scheduleDeletion(app, caller, user_id)
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

/** Erases users whose grace period has ended, of one team or of all; returns whether more may remain. */
export const eraseDueUsers = (app: App, team_id?: string) =>
  inTransaction(app, async (app) => {
    const due = await users.lockDueUsers(app, ERASURE_BATCH, team_id)
    if (!due.length) return false
    await keepDeletionEvents(
      app,
      due.map(({ user_id }) => user_id),
    )
    await users.eraseUsers(app, due)
    return due.length === ERASURE_BATCH
  })
