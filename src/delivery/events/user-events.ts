import { User } from '../../contract/tenants/users.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import * as users from '../../tenants/users/actions.ts'
import { emit, eventRow, sealEvent } from './emit.ts'
import * as store from './store.ts'
import { noteChange } from './store-log.ts'

/** Creates a user and emits `user.created` in one transaction. */
export async function createUser(app: App, caller: Pick<TeamCaller, 'team_id'>, input: users.NewUser) {
  const user = await users.newUser(app, caller, input)
  const { team_id, user_id, client_user_id, created_on: at } = user.created
  const data = User.parse(user.created)
  const event = eventRow(app, user.key, { team_id, user_id, client_user_id, event_type: 'user.created', key: `user:${user_id}`, data, at })
  // An open transaction writes them itself.
  const requestRows = app.transaction ? undefined : await app.requestRows?.(app, user.created, user.key)
  await users.insertUser(app, user, { event, requestRows })
  app.wake('team log', team_id)
  return user.created
}

export const emitUserDeleted = (app: AppInTransaction, user: users.UserRow) => emitForUser(app, user, 'user.deleted')

export const emitUserDeletionUndone = (app: AppInTransaction, user: users.UserRow) => emitForUser(app, user, 'user.deletion_undone')

async function emitForUser(app: AppInTransaction, user: users.UserRow, event_type: 'user.deleted' | 'user.deletion_undone') {
  const { team_id, user_id, client_user_id } = user
  const event = { team_id, user_id, client_user_id, event_type, key: `user:${user_id}`, data: { user_id }, at: app.now() }
  await emit(app, await users.unwrapUserKey(app, user), event)
}

/**
 * Keeps `user.deleted` when its user is erased, for receivers that are more than 7 days behind.
 * Only the user ID remains, encrypted with the team's key. The log is locked until the transaction ends, so that no event is moved,
 * and its owner then drops what it holds of the users.
 */
export async function keepDeletionEvents(app: AppInTransaction, team_id: string, user_ids: string[]) {
  await noteChange(app.db, team_id)
  app.wake('team log', team_id)
  const events = await store.listEventsOfUsers(app.db, team_id, 'user.deleted', user_ids)
  const key = await teamSealingKey(app, team_id)
  const detached = events.map(({ id, no, logged_at, user_id }) => ({
    ...{ id, no, logged_at },
    sealed: sealEvent(key, id, { client_user_id: null, data: { user_id } }),
  }))
  await store.detachEvents(app.db, team_id, detached)
}
