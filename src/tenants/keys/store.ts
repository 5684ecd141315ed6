import { type Insertable, sql } from 'kysely'
import type { Role } from '../../contract/common.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import { liveTeams } from '../../platform/db/live-teams.ts'
import { type Db, prepareRead } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

const keyOwners = prepareRead('find_key_owner', (db, hash: Buffer) =>
  db.selectFrom('team_api_key_hashes').select(['team_id', 'key_id']).where('hash', '=', hash),
)

export type KeyOwner = { team_id: string; key_id: string }

/** The team of a key and the key's ID. They never change. */
export const findKeyOwner = async (db: Db, hash: Buffer): Promise<KeyOwner | undefined> => (await keyOwners(db, hash))[0]

const teamColumns = [
  ...(['teams.id as team_id', 'teams.betas', 'teams.clock_offset_ms', 'teams.deleted_at', 'teams.rate_limit as team_rate_limit'] as const),
  ...(['orgs.id as org_id', 'orgs.plan'] as const),
]

const teamKeys = prepareRead('find_team_key', (db, team_id: string, key_id: string) =>
  db
    .selectFrom('team_api_keys as key')
    .innerJoin('teams', 'teams.id', 'key.team_id')
    .innerJoin('orgs', 'orgs.id', 'teams.org_id')
    .select([
      'key.id as key_id',
      'key.read_only',
      'key.expires_at',
      'key.revoked_at',
      'key.last_used_at',
      'key.rate_limit as key_rate_limit',
    ])
    .select(teamColumns)
    .where('key.team_id', '=', team_id)
    .where('key.id', '=', key_id),
)

/** Finds a team key with the team and organization columns that a request needs. */
export const findTeamKey = async (db: Db, { team_id, key_id }: KeyOwner) => (await teamKeys(db, team_id, key_id))[0]

/** The columns of a team that a request needs. */
export const findTeamOfCaller = (db: Db, team_id: string) =>
  db.selectFrom('teams').innerJoin('orgs', 'orgs.id', 'teams.org_id').select(teamColumns).where('teams.id', '=', team_id).executeTakeFirst()

const teamsOfKey = sql<string[]>`array(select team_id from management_key_teams where key_id = management_keys.id order by team_id)`

const withOrg = (db: Db) =>
  db
    .selectFrom('management_keys')
    .innerJoin('orgs', 'orgs.id', 'management_keys.org_id')
    .select([
      'management_keys.id as key_id',
      'role',
      'management_keys.expires_at',
      'revoked_at',
      'last_used_at',
      'orgs.id as org_id',
      'plan',
      teamsOfKey.as('team_ids'),
    ])

export const findManagementKey = (db: Db, hash: Buffer) => withOrg(db).where('hash', '=', hash).executeTakeFirst()

export const findManagementKeyById = (db: Db, id: string) => withOrg(db).where('management_keys.id', '=', id).executeTakeFirst()

const labKeys = prepareRead('find_lab_key', (db, hash: Buffer) =>
  db.selectFrom('lab_keys').select(['id as key_id', 'lab_id', 'revoked_at', 'last_used_at']).where('hash', '=', hash),
)

export const findLabKey = async (db: Db, hash: Buffer) => (await labKeys(db, hash))[0]

type TeamKeyRow = Insertable<Tables['team_api_keys']>
type ManagementKeyRow = Insertable<Tables['management_keys']>

export const insertTeamKey = (db: Db, row: TeamKeyRow) =>
  db.insertInto('team_api_keys').values(row).returningAll().executeTakeFirstOrThrow()

/** Returns undefined if the hash is already known. A concurrent insert of the same hash waits for this transaction. */
export const insertKeyHash = (db: Db, hash: Buffer, { team_id, key_id }: KeyOwner) =>
  db
    .insertInto('team_api_key_hashes')
    .values({ hash, team_id, key_id })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('key_id')
    .executeTakeFirst()

export const insertManagementKey = (db: Db, row: ManagementKeyRow) =>
  db.insertInto('management_keys').values(row).returningAll().executeTakeFirstOrThrow()

export const ensureManagementKey = (db: Db, row: ManagementKeyRow) =>
  db
    .insertInto('management_keys')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute()

/** Live team keys of an organization, oldest first; `team_ids` narrows the list to the teams a caller has access to. */
export const listTeamKeys = (db: Db, org_id: string, team_ids: string[] | undefined, page: Page) =>
  db
    .selectFrom('team_api_keys as key')
    .innerJoin('teams', 'teams.id', 'key.team_id')
    .select(['key.id', 'key.team_id', 'key.label', 'key.prefix', 'key.read_only', 'key.created_by', 'key.created_at'])
    .select(['key.expires_at', 'key.last_used_at', 'key.revoked_at', 'key.rate_limit'])
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .where('key.revoked_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('key.team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .$call(ascendingPage(page, 'key.created_at', 'key.id'))
    .modifyEnd(anyTeam('team API keys of an organization'))
    .execute()

/** The teams of live keys among the IDs; `team_ids` narrows them to the teams a caller has access to. */
export const findKeyTeams = (db: Db, org_id: string, team_ids: string[] | undefined, ids: string[]) =>
  db
    .selectFrom('team_api_keys as key')
    .innerJoin('teams', 'teams.id', 'key.team_id')
    .select('key.team_id')
    .distinct()
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .where('key.revoked_at', 'is', null)
    .where('key.id', '=', sql<string>`any(${ids}::uuid[])`)
    .$if(team_ids !== undefined, (query) => query.where('key.team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .modifyEnd(anyTeam('teams of API keys'))
    .execute()

export const revokeTeamKeys = (db: Db, team_id: string, ids: string[], at: string) =>
  db
    .updateTable('team_api_keys')
    .set({ revoked_at: at })
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute()

/** Serializes concurrent changes of one key. */
export const lockLiveTeamKey = (db: Db, team_id: string, id: string, now: string) =>
  db
    .selectFrom('team_api_keys')
    .select(['team_id', 'label', 'read_only', 'expires_at', 'rate_limit'])
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .forUpdate()
    .executeTakeFirst()

/** Names the successor of a key, and of the keys that this key had replaced. */
export async function replaceTeamKey(db: Db, team_id: string, id: string, change: Replacement) {
  const keys = db.updateTable('team_api_keys').where('team_id', '=', team_id)
  await keys.set({ successor_id: change.successor_id }).where('successor_id', '=', id).execute()
  await keys.set(change).where('id', '=', id).execute()
}

type Replacement = { successor_id: string } & ({ expires_at: string } | { revoked_at: string })

type TeamKeyChange = { label?: string | undefined; rate_limit?: string | null | undefined }

export const updateTeamKey = (db: Db, team_id: string, id: string, { label, rate_limit }: TeamKeyChange) =>
  db
    .updateTable('team_api_keys')
    .set({ label: sql<string>`coalesce(${label ?? null}, label)` })
    .$if(rate_limit !== undefined, (query) => query.set({ rate_limit }))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

export const countTeamKeys = (db: Db, team_id: string) =>
  db
    .selectFrom('team_api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', team_id)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()

const liveManagementKeys = (db: Db, org_id: string, now: string) =>
  db
    .selectFrom('management_keys')
    .where('org_id', '=', org_id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))

export const countManagementKeys = (db: Db, org_id: string, now: string) =>
  liveManagementKeys(db, org_id, now)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()

const liveKeysOf = (db: Db, org_id: string, now: string) =>
  liveManagementKeys(db, org_id, now)
    .select(['id', 'label', 'prefix', 'role', 'created_by', 'created_by_person', 'created_at', 'expires_at', 'last_used_at'])
    .select(teamsOfKey.as('team_ids'))

export const listManagementKeys = (
  db: Db,
  org_id: string,
  filter: { team_id?: string | null | undefined; role?: Role | null | undefined },
  page: Page,
  now: string,
) =>
  liveKeysOf(db, org_id, now)
    .$if(!!filter.role, (query) => query.where('role', '=', filter.role as Role))
    .$if(!!filter.team_id, (query) =>
      query.where(
        sql<boolean>`exists (select from management_key_teams where key_id = management_keys.id and team_id = ${filter.team_id})`,
      ),
    )
    .$call(ascendingPage(page, 'created_at', 'id'))
    .execute()

export const findLiveManagementKey = (db: Db, org_id: string, id: string, now: string) =>
  liveKeysOf(db, org_id, now).where('id', '=', id).executeTakeFirst()

/** Serializes concurrent changes of one key. */
export const lockManagementKey = (db: Db, org_id: string, id: string) =>
  db.selectFrom('management_keys').select('id').where('org_id', '=', org_id).where('id', '=', id).forUpdate().execute()

/** Locks the organization's org_admin keys that do not expire, so two concurrent revocations cannot remove the last one. */
export const lockOrgAdmins = (db: Db, org_id: string) =>
  db
    .selectFrom('management_keys')
    .select('id')
    .where('org_id', '=', org_id)
    .where('role', '=', 'org_admin')
    .where('revoked_at', 'is', null)
    .where('expires_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()

export const revokeManagementKey = (db: Db, org_id: string, id: string, at: string) =>
  db.updateTable('management_keys').set({ revoked_at: at }).where('org_id', '=', org_id).where('id', '=', id).execute()

/** Replaces a management key. */
export async function replaceManagementKey(db: Db, org_id: string, id: string, change: Replacement) {
  const keys = db.updateTable('management_keys').where('org_id', '=', org_id)
  await keys.set({ successor_id: change.successor_id }).where('successor_id', '=', id).execute()
  await keys.set(change).where('id', '=', id).execute()
}

export const renameManagementKey = (db: Db, org_id: string, id: string, label: string) =>
  db.updateTable('management_keys').set({ label }).where('org_id', '=', org_id).where('id', '=', id).execute()

/** Binds to exactly these live teams of the organization and returns how many there were. */
export async function bindTeams(db: Db, org_id: string, key_id: string, team_ids: string[]) {
  await db.deleteFrom('management_key_teams').where('key_id', '=', key_id).execute()
  const bound = await db
    .insertInto('management_key_teams')
    .columns(['key_id', 'team_id'])
    .expression(liveTeams(db.selectFrom('teams'), org_id, key_id, team_ids))
    .returning('team_id')
    .execute()
  return bound.length
}

export const insertLabKey = (db: Db, row: Insertable<Tables['lab_keys']>) =>
  db.insertInto('lab_keys').values(row).returning(['id', 'lab_id', 'label', 'prefix', 'created_at']).executeTakeFirstOrThrow()

/** Live keys of labs. */
export const listLabKeys = (db: Db, lab_ids: number[]) =>
  db
    .selectFrom('lab_keys')
    .select(['id', 'lab_id', 'label', 'prefix', 'created_at', 'last_used_at'])
    .where('revoked_at', 'is', null)
    .where('lab_id', '=', sql<number>`any(${lab_ids})`)
    .orderBy('lab_id')
    .orderBy('created_at')
    .orderBy('id')
    .execute()

export const revokeLabKey = (db: Db, id: string, at: string) =>
  db.updateTable('lab_keys').set({ revoked_at: at }).where('id', '=', id).where('revoked_at', 'is', null).returning('id').executeTakeFirst()

/** Records the last uses of many keys in one statement. Another process may have recorded a later use. `team_id` is set for team API keys, which are all of one team. */
export const touchKeys = (
  db: Db,
  table: 'team_api_keys' | 'management_keys' | 'lab_keys',
  team_id: string | undefined,
  uses: [string, string][],
) =>
  sql`update ${sql.table(table)} as key set last_used_at = greatest(key.last_used_at, used.at)
      from unnest(${uses.map(([id]) => id)}::uuid[], ${uses.map(([, at]) => at)}::timestamptz[]) as used (id, at)
      where key.id = used.id ${team_id ? sql`and key.team_id = ${team_id}` : sql``}`.execute(db)
