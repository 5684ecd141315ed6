import { User } from '../../contract/tenants/users.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import * as users from '../../tenants/users/actions.ts'
import { emit, sealEvent } from './emit.ts'
import * as store from './store.ts'

/** Creates a user and emits `user.created` in one transaction. */
export const createUser = (app: App, caller: Pick<TeamCaller, 'team_id'>, input: users.NewUser) =>
  inTransaction(app, async (app) => {
    const user = await users.registerUser(app, caller, input)
    await emitForUser(app, user, 'user.created', User.parse(user), user.created_on)
    return user
  })

export const emitUserDeleted = (app: AppInTransaction, user: users.UserRow) =>
  emitForUser(app, user, 'user.deleted', { user_id: user.user_id })

export const emitUserDeletionUndone = (app: AppInTransaction, user: users.UserRow) =>
  emitForUser(app, user, 'user.deletion_undone', { user_id: user.user_id })

async function emitForUser(
  app: AppInTransaction,
  user: users.UserRow,
  event_type: 'user.created' | 'user.deleted' | 'user.deletion_undone',
  data: { user_id: string },
  at = app.now(),
) {
  const { team_id, user_id, client_user_id } = user
  await emit(app, await users.unwrapUserKey(app, user), { team_id, user_id, client_user_id, event_type, key: `user:${user_id}`, data, at })
}

/**
 * Keeps `user.deleted` when its user is erased, for receivers that are more than 7 days behind.
 * Only the user ID remains, encrypted with the team's key.
 */
export async function keepDeletionEvents(app: AppInTransaction, team_id: string, user_ids: string[]) {
  const events = await store.listEventsOfUsers(app.db, team_id, 'user.deleted', user_ids)
  const key = await teamSealingKey(app, team_id)
  const detached = events.map(({ id, logged_at, user_id }) => ({
    id,
    logged_at,
    sealed: sealEvent(key, id, { client_user_id: null, data: { user_id } }),
  }))
  await store.detachEvents(app.db, team_id, detached)
}
