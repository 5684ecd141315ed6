import { type Insertable, sql, type Updateable } from 'kysely'
import type { Plan } from '../../contract/common.ts'
import { contains } from '../../platform/db/contains.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export const insertOrg = (db: Db, row: Insertable<Tables['orgs']>) => db.insertInto('orgs').values(row).execute()

export const getOrg = (db: Db, id: string) => db.selectFrom('orgs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const listOrgs = (db: Db) => db.selectFrom('orgs').selectAll().orderBy('created_at').orderBy('id').execute()

export const updateOrg = (db: Db, id: string, change: { name?: string; plan?: Plan }) =>
  db.updateTable('orgs').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

export const insertTeam = (db: Db, row: Insertable<Tables['teams']>) =>
  db.insertInto('teams').values(row).returningAll().executeTakeFirstOrThrow()

export const findLiveTeam = (db: Db, id: string) =>
  db.selectFrom('teams').selectAll().where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst()

const liveTeamsOf = (db: Db, org_id: string) =>
  db.selectFrom('teams').selectAll().where('org_id', '=', org_id).where('deleted_at', 'is', null)

export const findTeam = (db: Db, org_id: string, id: string) => liveTeamsOf(db, org_id).where('id', '=', id).executeTakeFirst()

export const getTeam = (db: Db, id: string) => db.selectFrom('teams').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** ID and name of the teams in scope, oldest first. */
export const listTeamNames = (db: Db, org_id: string, team_ids: string[] | undefined, limit: number) =>
  db
    .selectFrom('teams')
    .select(['id as team_id', 'name'])
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .orderBy('created_on')
    .orderBy('id')
    .limit(limit)
    .execute()

export const listTeamIds = (db: Db, org_id: string, team_ids: string[] | undefined) =>
  db
    .selectFrom('teams')
    .select('id')
    .where('org_id', '=', org_id)
    .$if(team_ids !== undefined, (query) => query.where('id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .execute()

/** All teams, also those that are scheduled for deletion. */
export const listEveryTeam = (db: Db) => db.selectFrom('teams').select(['id', 'deleted_at']).execute()

export const lockTeam = (db: Db, org_id: string, id: string) =>
  liveTeamsOf(db, org_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

export const findFirstTeam = (db: Db, org_id: string) =>
  liveTeamsOf(db, org_id).orderBy('created_on').orderBy('id').limit(1).executeTakeFirst()

export const findByIntegrationId = (db: Db, org_id: string, integration_team_id: string) =>
  liveTeamsOf(db, org_id).where('integration_team_id', '=', integration_team_id).executeTakeFirst()

type TeamFilter = { team_ids: string[] | undefined; region?: string[] | null | undefined; search_query?: string | null | undefined }

export const listTeams = (db: Db, org_id: string, filter: TeamFilter, page: Page) =>
  liveTeamsOf(db, org_id)
    .$if(filter.team_ids !== undefined, (query) => query.where('id', '=', sql<string>`any(${filter.team_ids}::uuid[])`))
    .$if(!!filter.region?.length, (query) => query.where('region', 'in', filter.region as string[]))
    .$if(!!filter.search_query, (query) =>
      query.where(contains(sql`name || ' ' || coalesce(integration_team_id, '')`, filter.search_query as string)),
    )
    .$call(ascendingPage(page, 'created_on', 'id'))
    .execute()

export const updateTeam = (db: Db, org_id: string, id: string, change: Updateable<Tables['teams']>) =>
  db.updateTable('teams').set(change).where('org_id', '=', org_id).where('id', '=', id).execute()

/** Locks the next deleted team whose grace period has ended on its own clock. Other workers skip it. */
export const lockTeamToErase = (db: Db, wall: string) =>
  db
    .selectFrom('teams')
    .select(['id', 'org_id'])
    .where(sql<boolean>`erase_at <= ${wall}::timestamptz + clock_offset_ms * interval '1 millisecond'`)
    .orderBy('erase_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const insertErasedTeam = (db: Db, row: Insertable<Tables['erased_teams']>) => db.insertInto('erased_teams').values(row).execute()

export const listErasedTeams = (db: Db, org_id: string) => db.selectFrom('erased_teams').select('id').where('org_id', '=', org_id).execute()

/** Whether an erased team or an organization has this ID. */
export const isIdTaken = (db: Db, id: string) =>
  db
    .selectFrom('erased_teams')
    .select('id')
    .where('id', '=', id)
    .unionAll(db.selectFrom('orgs').select('id').where('id', '=', id))
    .executeTakeFirst()

/** Cascades to the rows of the team, including the encryption keys, except for tables without a foreign key. */
export const deleteTeamRows = (db: Db, id: string) => db.deleteFrom('teams').where('id', '=', id).execute()

export const setBetas = (db: Db, id: string, betas: string[]) =>
  db.updateTable('teams').set({ betas }).where('id', '=', id).returning(['id', 'name', 'betas']).executeTakeFirst()

export const setRateLimit = (db: Db, id: string, rate_limit: string | null) =>
  db.updateTable('teams').set({ rate_limit }).where('id', '=', id).returning(['id', 'name', 'rate_limit']).executeTakeFirst()

/** Live teams with the ID of a team or of an organization. */
export const listTeamsOfChain = (db: Db, chain_id: string) =>
  db
    .selectFrom('teams')
    .select('id')
    .where((eb) => eb.or([eb('id', '=', chain_id), eb('org_id', '=', chain_id)]))
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()

export const listAllTeams = (db: Db) =>
  db.selectFrom('teams').select(['id', 'name', 'betas']).where('deleted_at', 'is', null).orderBy('created_on').orderBy('id').execute()

export const findClock = (db: Db, team_id: string) =>
  db.selectFrom('teams').select('clock_offset_ms').where('id', '=', team_id).executeTakeFirst()

const CLOCK_LOCK = 4_117_202_608

/** Returns whether the clock is locked now, until the transaction ends. A lock on the row would lock all teams of a cluster. */
export async function tryLockClock(db: Db, team_id: string) {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${team_id}, ${CLOCK_LOCK})) as locked`.execute(db)
  return rows[0]?.locked === true
}

export const setClockOffset = (db: Db, team_id: string, clock_offset_ms: number) =>
  db.updateTable('teams').set({ clock_offset_ms }).where('id', '=', team_id).execute()
