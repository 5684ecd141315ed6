import { randomUUID } from 'node:crypto'
import type { Role } from '../../contract/common.ts'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { teamKeyPrefix } from '../../platform/config.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { checkRateChange } from '../rates/rules.ts'
import { requireTeam } from '../teams/actions.ts'
import { boundTeamIds, checkTeamsFound, visibleTeams } from '../teams/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type NewTeamKey = {
  label: string
  team_id: string
  read_only: boolean
  expires_at?: string | null | undefined
  rate_limit?: RateLimit | null | undefined
}

export const createTeamKey = (app: App, caller: ManagementCaller, input: NewTeamKey) =>
  inTransaction(app, async (app) => {
    const { label, team_id, read_only, expires_at = null, rate_limit } = input
    rules.checkExpiry(expires_at, app.wall())
    await requireTeam(app, caller, team_id)
    rules.checkKeyCount((await store.countTeamKeys(app.db, team_id)).count)
    return insertNewTeamKey(app, caller, { label, team_id, read_only, expires_at, rate_limit })
  })

/** Inserts a key with a new secret, which only the result contains. */
export async function insertNewTeamKey(app: App, caller: ManagementCaller, { label, rate_limit, ...columns }: Required<NewTeamKey>) {
  const secret = rules.newSecret(teamKeyPrefix(app.config))
  const { hash, ...row } = newKeyRow(app, secret, label, caller)
  await store.insertKeyHash(app.db, hash, { team_id: columns.team_id, key_id: row.id })
  return { ...(await store.insertTeamKey(app.db, { ...row, ...columns, rate_limit: jsonOf(rate_limit) })), value: secret }
}

/** Stores a team key created elsewhere. An existing key stays unchanged, even if it is revoked. */
export const ensureTeamKey = (
  app: App,
  secret: string,
  { label, team_id, read_only = false }: { label: string; team_id: string; read_only?: boolean },
) =>
  inTransaction(app, async (app) => {
    const { hash, ...row } = newKeyRow(app, secret, label)
    const isNew = await store.insertKeyHash(app.db, hash, { team_id, key_id: row.id })
    if (isNew) await store.insertTeamKey(app.db, { ...row, team_id, read_only })
  })

/** Stores an Org Management Key created elsewhere. */
export const ensureManagementKey = (app: App, secret: string, { label, org_id }: { label: string; org_id: string }) =>
  store.ensureManagementKey(app.db, { ...newKeyRow(app, secret, label), org_id, role: 'org_admin' })

export async function listTeamKeys(
  app: App,
  caller: ManagementCaller,
  query: { team_id?: string | null | undefined; next_cursor?: string | null | undefined },
) {
  const page = pageAfter(query.next_cursor)
  const found = await store.listTeamKeys(app.db, caller.org_id, visibleTeams(caller, query.team_id), page)
  const { rows, next_cursor } = pageOf(found, page, (key) => ({ at: key.created_at, id: key.id }))
  return { api_keys: rows.map((key) => ({ ...key, value: rules.maskKey(key.prefix) })), next_cursor }
}

type TeamKeyPatch = { label?: string | null | undefined; rate_limit?: RateLimit | null | undefined }

export const patchTeamKey = (app: App, caller: ManagementCaller, id: string, patch: TeamKeyPatch) =>
  inTransaction(app, async (app) => {
    const [owner] = await store.findKeyTeams(app.db, caller.org_id, visibleTeams(caller), [id])
    const current = owner && (await store.lockLiveTeamKey(app.db, owner.team_id, id, app.wall()))
    checkRateChange(caller, current?.rate_limit ?? null, patch.rate_limit)
    const change = { label: patch.label ?? undefined, rate_limit: patch.rate_limit && JSON.stringify(patch.rate_limit) }
    const key = owner && (await store.updateTeamKey(app.db, owner.team_id, id, change))
    if (!key) throw problem('API_KEY_NOT_FOUND', 'No team API key that you have access to has this ID. List the keys to find it.')
    app.wake('caller changed', key.team_id)
    return { ...key, value: rules.maskKey(key.prefix) }
  })

const jsonOf = (rate_limit: RateLimit | null | undefined) => (rate_limit ? JSON.stringify(rate_limit) : null)

export const deleteTeamKeys = (app: App, caller: ManagementCaller, ids: string[]) =>
  inTransaction(app, async (app) => {
    const success: string[] = []
    for (const { team_id } of await store.findKeyTeams(app.db, caller.org_id, visibleTeams(caller), ids)) {
      success.push(...(await store.revokeTeamKeys(app.db, team_id, ids, app.wall())).map((key) => key.id))
      app.wake('caller changed', team_id)
    }
    return { success, failure: [], not_found: ids.filter((id) => !success.includes(id.toLowerCase())) }
  })

type NewManagementKey = { label: string; role: Role; team_role_bindings?: { team_id: string }[] | null | undefined }

export const createManagementKey = (app: App, caller: ManagementCaller, { label, role, team_role_bindings }: NewManagementKey) =>
  inTransaction(app, async (app) => {
    const team_ids = boundTeamIds(team_role_bindings)
    rules.checkBindings(role, team_ids)
    rules.checkManagementKeyCount((await store.countManagementKeys(app.db, caller.org_id, app.wall())).count)
    return insertNewManagementKey(app, caller, { label, role, team_ids })
  })

type ManagementKeyScope = { label: string; role: Role; team_ids: string[] | undefined }

/** Inserts a key with a new secret, which only the result contains. */
export async function insertNewManagementKey(app: App, caller: ManagementCaller, { label, role, team_ids }: ManagementKeyScope) {
  const { org_id } = caller
  const secret = rules.newSecret(rules.MANAGEMENT_PREFIX)
  const key = await store.insertManagementKey(app.db, { ...newKeyRow(app, secret, label, caller), org_id, role })
  if (team_ids) checkTeamsFound(await store.bindTeams(app.db, org_id, key.id, team_ids), team_ids)
  return { ...presentKey({ ...key, team_ids: team_ids ?? [] }), key: secret }
}

type ListQuery = { team_id?: string | null | undefined; role?: Role | null | undefined; next_cursor?: string | null | undefined }

export async function listManagementKeys(app: App, caller: ManagementCaller, query: ListQuery) {
  const page = pageAfter(query.next_cursor)
  const found = await store.listManagementKeys(app.db, caller.org_id, query, page, app.wall())
  const { rows, next_cursor } = pageOf(found, page, (key) => ({ at: key.created_at, id: key.id }))
  return { data: rows.map(presentKey), next_cursor }
}

type KeyPatch = { label?: string | null | undefined; team_role_bindings?: { team_id: string }[] | null | undefined }

export const patchManagementKey = (app: App, caller: ManagementCaller, id: string, patch: KeyPatch) =>
  inTransaction(app, async (app) => {
    await store.lockManagementKey(app.db, caller.org_id, id)
    const key = await requireManagementKey(app, caller, id)
    const team_ids = boundTeamIds(patch.team_role_bindings)
    if (team_ids) {
      rules.checkBindings(key.role, team_ids)
      checkTeamsFound(await store.bindTeams(app.db, caller.org_id, id, team_ids), team_ids)
    }
    if (patch.label) await store.renameManagementKey(app.db, caller.org_id, id, patch.label)
    return presentKey(await requireManagementKey(app, caller, id))
  })

export const deleteManagementKey = (app: App, caller: ManagementCaller, id: string) =>
  inTransaction(app, async (app) => {
    const admins = await store.lockOrgAdmins(app.db, caller.org_id)
    const key = await requireManagementKey(app, caller, id)
    if (admins.length === 1 && admins[0]?.id === key.id)
      throw problem('LAST_ORG_KEY', 'This is the last Org Management Key of your organization. Create another one before you revoke it.')
    await store.revokeManagementKey(app.db, caller.org_id, id, app.wall())
    return presentKey(key)
  })

export async function requireManagementKey(app: App, caller: ManagementCaller, id: string) {
  const key = await store.findLiveManagementKey(app.db, caller.org_id, id, app.wall())
  if (!key)
    throw problem('MANAGEMENT_KEY_NOT_FOUND', 'No management key in your organization has this ID. List the management keys to find it.')
  return key
}

/** The columns stored for a new secret; the secret itself is not stored. */
export const keyColumns = (app: App, secret: string, label: string) => ({
  id: randomUUID(),
  label,
  prefix: rules.prefixOf(secret),
  hash: rules.hashSecret(secret),
  created_at: app.wall(),
})

type Creator = Pick<ManagementCaller, 'key_id' | 'console'>

const newKeyRow = (app: App, secret: string, label: string, { key_id, console }: Creator = { key_id: null }) => ({
  ...keyColumns(app, secret, label),
  created_by: key_id,
  created_by_person: console?.kind === 'person' ? console.actor_id : null,
})

type KeyRow = { role: string; created_by: string | null; created_by_person: string | null; team_ids: string[] }

const presentKey = <K extends KeyRow>(key: K) => ({
  ...key,
  creator: creatorOf(key),
  team_role_bindings: key.role === 'team_admin' ? key.team_ids.map((team_id) => ({ team_id })) : null,
})

const creatorOf = ({ created_by, created_by_person }: KeyRow) =>
  created_by_person ? { type: 'org_member', id: created_by_person } : { type: created_by ? 'management_key' : 'operator' }
