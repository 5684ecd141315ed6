import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'

type Row = Record<string, unknown>

export const findTeam = (db: Db, team_id: string) =>
  db.selectFrom('teams').select(['id', 'name', 'org_id']).where('id', '=', team_id).where('deleted_at', 'is', null).executeTakeFirst()

export const countUsers = async (db: Db, team_id: string) =>
  (
    await db
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('team_id', '=', team_id)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow()
  ).count

export const listUsersAfter = (db: Db, team_id: string, after: string | undefined, limit: number) =>
  db
    .selectFrom('users')
    .innerJoin('sealing_keys as key', (join) => join.onRef('key.team_id', '=', 'users.team_id').onRef('key.user_id', '=', 'users.user_id'))
    .select(['users.user_id', 'key.id as key_id', 'key.wrapped'])
    .select(sql<Row>`to_jsonb(users)`.as('row'))
    .where('users.team_id', '=', team_id)
    .where('users.deleted_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('users.user_id', '>', after as string))
    .orderBy('users.user_id')
    .limit(limit)
    .execute()

type Listing = { table: string; by: string; order: string[] }

/** The names must come from the code, never from a caller. */
export async function listRows(db: Db, team_id: string, { table, by, order }: Listing, ids: string[]): Promise<Row[]> {
  const { rows } = await sql<{ row: Row }>`
    select to_jsonb(t) as row from ${sql.table(table)} t
    where t.team_id = ${team_id} and ${sql.ref(`t.${by}`)} = any(${ids}::uuid[])
    order by ${sql.join(order.map((column) => sql.ref(`t.${column}`)))}`.execute(db)
  return rows.map(({ row }) => row)
}

export type Owner = { team_id: string; user_id: string }

export type Day = { resource: string; day: string; provider: string; source_type: string; revision: number; sealed: Buffer }

/** Reads days in a fixed order until they hold `samples` samples. */
export async function listDaysAfter(db: Db, { team_id, user_id }: Owner, after: Day | undefined, samples: number) {
  const { rows } = await sql<Day>`
    select resource, day, provider, source_type, revision, sealed from (
      select *, sum(samples) over (order by resource, day, provider, source_type) - samples as before
      from sample_days where team_id = ${team_id} and user_id = ${user_id}
        ${after ? sql`and (resource, day, provider, source_type) > (${after.resource}, ${after.day}::date, ${after.provider}, ${after.source_type})` : sql``}
    ) d
    where before < ${samples} order by resource, day, provider, source_type`.execute(db)
  return rows
}

export const listStreamsAfter = (db: Db, { team_id, user_id }: Owner, after: string | undefined, limit: number) =>
  db
    .selectFrom('workout_streams')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .$if(after !== undefined, (query) => query.where('workout_id', '>', after as string))
    .orderBy('workout_id')
    .limit(limit)
    .execute()

/** The team of a user, who can be of any team. */
export const ownerOf = (db: Db, user_id: string) =>
  db.selectFrom('users').select('team_id').where('user_id', '=', user_id).modifyEnd(anyTeam('the team of a user')).executeTakeFirst()

/** Keeps the user from being erased until the transaction ends. */
export const lockUser = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('users').select('user_id').where('team_id', '=', team_id).where('user_id', '=', user_id).forKeyShare().execute()

/** Whether the log still has events of an erased user with this ID. */
export const isBeingErased = async (db: Db, team_id: string, user_id: string) =>
  (await db.selectFrom('log_erasures').select('id').where('team_id', '=', team_id).where('id', '=', user_id).executeTakeFirst()) !==
  undefined

export const isClientUserIdTaken = async (db: Db, team_id: string, client_user_id: string) =>
  (await db
    .selectFrom('users')
    .select('user_id')
    .where('team_id', '=', team_id)
    .where('client_user_id', '=', client_user_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()) !== undefined

export async function listTeamTests(db: Db, team_id: string) {
  const rows = await db
    .selectFrom('team_lab_tests')
    .select(sql<Row>`to_jsonb(team_lab_tests) - 'status' - 'team_id'`.as('row'))
    .where('team_id', '=', team_id)
    .orderBy('id')
    .execute()
  return rows.map(({ row }) => row)
}

/** Finds tests of the catalog and of the team. */
export async function findExistingTests(db: Db, team_id: string, ids: string[]) {
  const { rows } = await sql<{ id: string }>`
    select id from lab_tests where id = any(${ids}::uuid[])
    union all select id from team_lab_tests where team_id = ${team_id} and id = any(${ids}::uuid[])`.execute(db)
  return rows.map(({ id }) => id)
}

export const findExistingMarkers = async (db: Db, ids: number[]) =>
  (await db.selectFrom('markers').select('id').where('id', '=', sql<number>`any(${ids}::integer[])`).execute()).map(({ id }) => id)

export const findExistingAccounts = async (db: Db, ids: string[]) =>
  (await db.selectFrom('lab_accounts').select('id').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()).map(({ id }) => id)
