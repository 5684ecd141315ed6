import { randomUUID } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { groupWritesOfTeams } from '../../platform/db/connections/writes-of-teams.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import { problem } from '../../platform/problem.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { newSealingKey, teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { checkTimeZone, DAY, later } from '../../platform/time.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { CUSTOMER_SOURCE, decryptBirthDate, encryptBirthDate } from './birth-date.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import * as erasure from './store-erasure.ts'

export type { UserRow } from './store.ts'
export { searchErasable } from './store-erasure.ts'

type UserSettings = {
  fallback_time_zone?: string | null | undefined
  fallback_birth_date?: string | null | undefined
  ingestion_start?: string | null | undefined
  ingestion_end?: string | null | undefined
}

export type NewUser = UserSettings & { client_user_id: string }
export type UserIds = { user_id?: string | null | undefined; client_user_id?: string | null | undefined }

/** A user that `insertUser` creates, with its key and as responses show it. */
export async function newUser(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, input: NewUser) {
  rules.checkClientUserId(input.client_user_id)
  const user_id = randomUUID()
  const { key, row } = newSealingKey(await teamSealingKey(app, team_id), { team_id, user_id })
  const created_on = app.now()
  const user = { user_id, team_id, client_user_id: input.client_user_id, created_on, ...changedColumns(user_id, key, input, created_on) }
  rules.checkBounds(user.ingestion_start, user.ingestion_end)
  const created = { ...presentRow({ ...emptyColumns, ...user, key_id: row.id, wrapped_key: row.wrapped }, key), connected_sources: [] }
  return { user, key, wrapped: row, created }
}

type Created = Pick<store.UserInsert, 'event' | 'requestRows'>

/** Creates a user with its key and its event. */
export async function insertUser(app: App, { user, wrapped }: Awaited<ReturnType<typeof newUser>>, created: Created) {
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await writeUser(app, user.team_id, { user: { ...emptyColumns, ...user }, wrapped, ...created })) return
    await rejectExistingUser(app, user.team_id, user.client_user_id)
  }
  throw new Error('The client_user_id is taken by a user that cannot be read')
}

/** Users of a team that are created together share a statement. */
const writeUser = groupWritesOfTeams<store.UserInsert, boolean>({
  write: (app, team_id, inserts) => store.insertUsers(app.db, team_id, inserts),
  bytesOf: ({ event, requestRows }) => event.sealed.length + (requestRows?.outcome?.sealed.length ?? 0),
})

const emptyColumns = {
  ...{ time_zone: null, time_zone_source: null, time_zone_updated_at: null, ingestion_start: null, ingestion_end: null },
  ...{ deleted_at: null, erase_at: null, sealed: null },
}

/** The error names the existing user. If that user is gone by now, the caller retries the insert. */
async function rejectExistingUser(app: App, team_id: string, client_user_id: string) {
  const existing = await store.findByClientId(app.db, team_id, client_user_id)
  if (!existing) return
  const { user_id, created_on } = existing
  throw problem('INVALID_REQUEST', 'Client user id already exists.', { user_id, created_on })
}

/** Loads a live user by the ID that the team gave it. */
export async function resolveUser(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, client_user_id: string) {
  const user = await store.findByClientId(app.db, team_id, client_user_id)
  if (!user) throw rules.userNotFound()
  return user
}

/** Live users, the newest first. */
export const listUsers = (app: App, { team_id }: TeamCaller, limit: number, offset: number) =>
  store.listUsers(app.db, team_id, limit, offset)

export const countUsers = (app: App, { team_id }: TeamCaller) => store.countUsers(app.db, team_id)

export const searchUsers = (app: App, { team_id }: TeamCaller, prefix: string) => store.searchByIds(app.db, team_id, prefix)

export const patchUser = (
  app: App,
  { team_id }: TeamCaller,
  user_id: string,
  patch: UserSettings & { client_user_id?: string | undefined },
) =>
  rejectTakenClientUserId(() =>
    inTransaction(app, async (app) => {
      if (Object.values(patch).every((value) => value === undefined))
        throw problem('NOTHING_TO_PATCH', 'The body has no field to change. Send at least one field.')
      const user = await lockUser(app, team_id, user_id)
      if (patch.client_user_id !== undefined) rules.checkClientUserId(patch.client_user_id)
      const change = changedColumns(user_id, await unwrapUserKey(app, user), patch, app.now())
      const bounds = { ...user, ...change }
      rules.checkBounds(bounds.ingestion_start, bounds.ingestion_end)
      await store.updateUser(app.db, team_id, user_id, {
        ...change,
        ...(patch.client_user_id === undefined ? {} : { client_user_id: patch.client_user_id }),
      })
    }),
  )

/** Every endpoint rejects the user from now on; the user is erased when the grace period ends. */
export const scheduleDeletion = (app: App, { team_id }: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const now = app.now()
    await store.updateUser(app.db, team_id, user_id, { deleted_at: now, erase_at: later(now, rules.GRACE_DAYS * DAY) })
    return user
  })

export const cancelDeletion = (app: App, { team_id }: TeamCaller, query: UserIds) =>
  rejectTakenClientUserId(() =>
    inTransaction(app, async (app) => {
      rules.checkUndoQuery(query)
      const user = query.user_id
        ? await store.lockUser(app.db, team_id, query.user_id)
        : await store.lockLatestDeleted(app.db, team_id, query.client_user_id as string)
      if (!user?.deleted_at || (user.erase_at as string) <= app.now())
        throw problem(
          'NO_DELETION_TO_UNDO',
          'No user with this ID is scheduled for deletion. Check user_id or client_user_id; a user is erased permanently after 7 days.',
        )
      await store.updateUser(app.db, team_id, user.user_id, { deleted_at: null, erase_at: null })
      return user
    }),
  )

/** Teams with users whose grace period has ended. */
export const findTeamsWithUsersToErase = async (app: App, limit: number) =>
  (await erasure.findTeamsWithUsersToErase(app.db, app.wall(), limit)).map(({ team_id }) => team_id)

/** Locks users of the team whose grace period has ended, and returns their IDs. */
export const lockUsersToErase = async (app: AppInTransaction, team_id: string, limit: number) =>
  (await erasure.lockUsersToErase(app.db, team_id, app.wall(), limit)).map(({ user_id }) => user_id)

/** Erases locked users and everything that is encrypted with their keys. Their orders must have been detached before. */
export async function eraseUsers(app: AppInTransaction, team_id: string, user_ids: string[]) {
  await erasure.deleteLockedUsers(app.db, team_id, user_ids)
  const auditEntry = (user_id: string) => ({ action: 'eraseUser', subject: `user_id:${user_id}`, status: 200 })
  await recordChange(app, ...user_ids.map((user_id) => auditRow(app, { kind: 'job', team_id }, auditEntry(user_id))))
}

/** Deletes every user of a team without a grace period, in the caller's transaction. */
export const deleteUsersOf = (app: AppInTransaction, team_id: string) => erasure.deleteUsersOf(app.db, team_id)

export const findNextErasure = async (app: App, team_id: string) => (await erasure.findNextErasure(app.db, team_id))?.erase_at ?? undefined

/** Loads a user of the team; rejects one scheduled for deletion. */
export const requireUser = async (app: App, team_id: string, user_id: string) =>
  rules.requireLiveUser(await store.findUser(app.db, team_id, user_id))

/** Loads the live users of the team among the IDs. */
export const findUsers = (app: App, team_id: string, user_ids: string[]) => store.findUsers(app.db, team_id, user_ids)

/** Loads the user and locks its row until the caller's transaction ends. */
export const lockUser = async (app: AppInTransaction, team_id: string, user_id: string) =>
  rules.requireLiveUser(await store.lockUser(app.db, team_id, user_id))

/** Unwraps the user's encryption key from the loaded row. */
export const unwrapUserKey = async (app: App, user: store.UserRow) =>
  unwrap(await teamSealingKey(app, user.team_id), user, { id: user.key_id, wrapped: user.wrapped_key })

/** A user as responses show it, without its connected sources. Most users have no birth date to decrypt. */
export const presentUser = async (app: App, user: store.UserRow) => presentRow(user, user.sealed && (await unwrapUserKey(app, user)))

function presentRow(user: store.UserRow, key: SealingKey | null) {
  const source_slug = user.time_zone_source ?? CUSTOMER_SOURCE
  const zone = user.time_zone && { id: user.time_zone, source_slug, updated_at: user.time_zone_updated_at as string }
  return { ...user, fallback_time_zone: zone || null, fallback_birth_date: key && decryptBirthDate(key, user) }
}

/** The columns a request changes; absent fields stay absent. */
function changedColumns(user_id: string, key: SealingKey, input: UserSettings, updated_at: string) {
  const { fallback_time_zone: zone, fallback_birth_date: birth, ingestion_start: start, ingestion_end: end } = input
  if (zone) checkTimeZone(zone, ['body', 'fallback_time_zone'])
  if (birth) rules.checkBirthDate('fallback_birth_date', birth, updated_at.slice(0, 10))
  return {
    ...(zone === undefined ? {} : { time_zone: zone, time_zone_source: null, time_zone_updated_at: zone && updated_at }),
    ...(birth === undefined
      ? {}
      : { sealed: birth ? encryptBirthDate(key, user_id, { value: birth, source_slug: CUSTOMER_SOURCE, updated_at }) : null }),
    ...(start === undefined ? {} : { ingestion_start: start && rules.boundStart(start) }),
    ...(end === undefined ? {} : { ingestion_end: end && rules.boundEnd(end) }),
  }
}

async function rejectTakenClientUserId<T>(write: () => Promise<T>) {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw problem('CLIENT_USER_ID_TAKEN', 'Another user has this client_user_id. Patch or delete that user first.')
  }
}
