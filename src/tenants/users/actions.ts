import { randomUUID } from 'node:crypto'
import { isSource } from '../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { isUniqueViolation } from '../../platform/db/open.ts'
import { problem } from '../../platform/problem.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { newSealingKey, teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { providerOf } from '../sources/actions.ts'
import { BY_CUSTOMER, birthDateOf, sealBirthDate } from './birth-date.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type { UserRow } from './store.ts'

type Settable = {
  fallback_time_zone?: string | null | undefined
  fallback_birth_date?: string | null | undefined
  ingestion_start?: string | null | undefined
  ingestion_end?: string | null | undefined
}

export async function createUser(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, input: Settable & { client_user_id: string }) {
  rules.checkClientUserId(input.client_user_id)
  const user_id = randomUUID()
  const { key, row } = newSealingKey(await teamSealingKey(app, team_id), { team_id, user_id })
  const created_on = app.now()
  const user = { user_id, team_id, client_user_id: input.client_user_id, created_on, ...changes(user_id, key, input, created_on) }
  rules.checkBounds(user.ingestion_start, user.ingestion_end)
  return inTransaction(app, async (app) => {
    for (let tries = 0; tries < 3; tries++) {
      if (await store.insertUser(app.db, user, row)) return newcomer(app, team_id, user_id)
      await refuseExisting(app, team_id, input.client_user_id)
    }
    throw new Error('The client_user_id is taken by a user that cannot be read')
  })
}

/** Nobody has connected anything yet. */
const newcomer = async (app: App, team_id: string, user_id: string) => ({
  ...(await shown(app, await requireUser(app, team_id, user_id))),
  connected_sources: [],
})

/** The answer of the spec: who has the id already. If nobody has it any more by now, the caller tries again. */
async function refuseExisting(app: App, team_id: string, client_user_id: string) {
  const existing = await store.findByClientId(app.db, team_id, client_user_id)
  if (!existing) return
  const { user_id, created_on } = existing
  throw problem('INVALID_REQUEST', 'Client user id already exists.', { user_id, created_on })
}

export async function getUser(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, user_id: string) {
  return oneShown(app, await requireUser(app, team_id, user_id))
}

export async function resolveUser(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, client_user_id: string) {
  const user = await store.findByClientId(app.db, team_id, client_user_id)
  if (!user) throw rules.userNotFound()
  return oneShown(app, user)
}

export async function listUsers(app: App, { team_id }: TeamCaller, { limit, offset }: { limit: number; offset: number }) {
  const [users, { total }] = await Promise.all([store.listUsers(app.db, team_id, limit, offset), store.countUsers(app.db, team_id)])
  return { users: await presentUsers(app, users), total, limit, offset }
}

export const searchUsers = async (app: App, { team_id }: TeamCaller, beginning: string) =>
  presentUsers(app, await store.searchByIds(app.db, team_id, beginning))

export const patchUser = (app: App, { team_id }: TeamCaller, user_id: string, patch: Settable & { client_user_id?: string | undefined }) =>
  refuseTaken(() =>
    inTransaction(app, async (app) => {
      if (Object.values(patch).every((value) => value === undefined))
        throw problem('NOTHING_TO_PATCH', 'Nothing to patch: send at least one field to change.')
      const user = await requireUser(app, team_id, user_id, store.lockUser)
      if (patch.client_user_id !== undefined) rules.checkClientUserId(patch.client_user_id)
      const change = changes(user_id, await keyOf(app, user), patch, app.now())
      const bounds = { ...user, ...change }
      rules.checkBounds(bounds.ingestion_start, bounds.ingestion_end)
      await store.updateUser(app.db, team_id, user_id, {
        ...change,
        ...(patch.client_user_id === undefined ? {} : { client_user_id: patch.client_user_id }),
      })
    }),
  )

/** The user is gone for every call at once, and is erased when the grace period ends. */
export const scheduleDeletion = (app: App, { team_id }: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id, store.lockUser)
    const now = app.now()
    await store.updateUser(app.db, team_id, user_id, { deleted_at: now, erase_at: later(now, rules.GRACE_DAYS * DAY) })
    return { success: true }
  })

export const undoDeleteUser = (
  app: App,
  { team_id }: TeamCaller,
  query: { user_id?: string | null | undefined; client_user_id?: string | null | undefined },
) =>
  refuseTaken(() =>
    inTransaction(app, async (app) => {
      rules.checkUndo(query)
      const user = query.user_id
        ? await store.lockUser(app.db, team_id, query.user_id)
        : await store.lockLatestDeleted(app.db, team_id, query.client_user_id as string)
      if (!user?.deleted_at || (user.erase_at as string) <= app.now())
        throw problem('NO_DELETION_TO_UNDO', 'No user of this team with that id awaits deletion; after 7 days it is erased for good.')
      await store.updateUser(app.db, team_id, user.user_id, { deleted_at: null, erase_at: null })
      // The audit log names the user also where the request named a client_user_id; the edge drops the field.
      return { success: true, user_id: user.user_id }
    }),
  )

const ERASED_AT_ONCE = 500

/** Erases users whose grace has ended, of one team or of any; answers whether there may be more. */
export const eraseDueUsers = (app: App, team_id?: string) =>
  inTransaction(app, async (app) => {
    const due = await store.lockUsersToErase(app.db, app.wall(), ERASED_AT_ONCE, team_id)
    if (!due.length) return false
    await store.deleteLockedUsers(
      app.db,
      due.map(({ user_id }) => user_id),
    )
    const deed = (user_id: string) => ({ action: 'eraseUser', subject: `user_id:${user_id}`, status: 200 })
    await recordChange(app, ...due.map(({ team_id, user_id }) => auditRow(app, { kind: 'job', team_id }, deed(user_id))))
    return due.length === ERASED_AT_ONCE
  })

/** Deletes every user of a team without a grace period, in the caller's transaction. */
export const deleteUsersOf = (app: AppInTransaction, team_id: string) => store.deleteUsersOf(app.db, team_id)

export const nextErasure = async (app: App, team_id: string) => (await store.nextErasure(app.db, team_id))?.erase_at ?? undefined

export async function getMetrics(app: App, { team_id }: TeamCaller) {
  const counting = [store.countUsers(app.db, team_id), store.countOrders(app.db, team_id), store.countSources(app.db, team_id)] as const
  const [{ total }, { orders }, { all, errored, by_week }] = await Promise.all(counting)
  return {
    team_id,
    number_of_users: total,
    number_of_connected_sources: all,
    number_of_errored_connected_sources: errored,
    number_of_connected_sources_by_week: by_week,
    number_of_ordered_tests: orders,
  }
}

/** A user of the team that is not scheduled for deletion. */
export const requireUser = async (app: App, team_id: string, user_id: string, find = store.findUser) =>
  rules.liveUser(await find(app.db, team_id, user_id))

/** Those of the ids that are users of the team. */
export const findUsers = (app: App, team_id: string, user_ids: string[]) => store.findUsers(app.db, team_id, user_ids)

/** The app with the domain clock of a team, for work that no request of the team began. */
export async function onTeamClock(app: App, team_id: string): Promise<App> {
  const offset = (await store.clockOffset(app.db, team_id))?.clock_offset_ms ?? 0
  return offset ? { ...app, now: () => later(app.wall(), offset) } : app
}

/** The same, and nobody else works on the user until the caller's transaction ends. */
export const lockUser = (app: AppInTransaction, team_id: string, user_id: string) => requireUser(app, team_id, user_id, store.lockUser)

/** The user's own key, from the row that was read. */
export const keyOf = async (app: App, user: store.UserRow) =>
  unwrap(await teamSealingKey(app, user.team_id), user, { id: user.key_id, wrapped: user.wrapped_key })

export async function presentUsers(app: App, users: store.UserRow[]) {
  const connected = await connectedSources(app, users)
  return Promise.all(users.map(async (user) => ({ ...(await shown(app, user)), connected_sources: connected.get(user.user_id) ?? [] })))
}

/** The sources of each user, in the order in which they were connected. */
async function connectedSources(app: App, users: store.UserRow[]) {
  const [first] = users
  if (!first) return new Map<string, never>()
  const ids = users.map(({ user_id }) => user_id)
  const rows = await store.listSources(app.db, first.team_id, ids)
  const known = rows.flatMap(({ user_id, provider: slug, created_at }) => {
    if (!isSource(slug)) return []
    const provider = providerOf(app, slug)
    return [{ user_id, created_on: created_at, provider, source: provider }]
  })
  return Map.groupBy(known, ({ user_id }) => user_id)
}

const oneShown = async (app: App, user: store.UserRow) =>
  (await presentUsers(app, [user]))[0] as Awaited<ReturnType<typeof presentUsers>>[number]

async function shown(app: App, user: store.UserRow) {
  const source_slug = user.time_zone_source ?? BY_CUSTOMER
  const zone = user.time_zone && { id: user.time_zone, source_slug, updated_at: user.time_zone_updated_at as string }
  return { ...user, fallback_time_zone: zone || null, fallback_birth_date: birthDateOf(await keyOf(app, user), user) }
}

/** The columns that a request sets; what it leaves out is left out here too. */
function changes(user_id: string, key: SealingKey, sent: Settable, updated_at: string) {
  const { fallback_time_zone: zone, fallback_birth_date: birth, ingestion_start: start, ingestion_end: end } = sent
  if (zone) rules.checkTimeZone(zone)
  if (birth) rules.checkBirthDate('fallback_birth_date', birth, updated_at.slice(0, 10))
  return {
    ...(zone === undefined ? {} : { time_zone: zone, time_zone_source: null, time_zone_updated_at: zone && updated_at }),
    ...(birth === undefined
      ? {}
      : { sealed: birth ? sealBirthDate(key, user_id, { value: birth, source_slug: BY_CUSTOMER, updated_at }) : null }),
    ...(start === undefined ? {} : { ingestion_start: start && rules.boundStart(start) }),
    ...(end === undefined ? {} : { ingestion_end: end && rules.boundEnd(end) }),
  }
}

async function refuseTaken<T>(write: () => Promise<T>) {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw problem('CLIENT_USER_ID_TAKEN', 'Another user has this client_user_id; patch or delete that user first.')
  }
}
