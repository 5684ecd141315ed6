import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { scheduleDeletion } from '../../tenants/users/actions.ts'
import { endConnections } from '../../wearables/connections/actions.ts'

/** Deletes a user and ends the user's connections in one transaction. Undoing the deletion brings back no connection. */
export const deleteUser = (app: App, caller: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    const deleted = await scheduleDeletion(app, caller, user_id)
    await endConnections(app, caller, user_id)
    return deleted
  })
