import { sql } from 'kysely'
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
    .innerJoin('sealing_keys', 'sealing_keys.user_id', 'users.user_id')
    .select(['users.user_id', 'sealing_keys.id as key_id', 'sealing_keys.wrapped'])
    .select(sql<Row>`to_jsonb(users)`.as('row'))
    .where('users.team_id', '=', team_id)
    .where('users.deleted_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('users.user_id', '>', after as string))
    .orderBy('users.user_id')
    .limit(limit)
    .execute()

/** `table` must come from the code, never from a caller. */
export async function rowsBy(db: Db, table: string, column: string, ids: string[], order: string): Promise<Row[]> {
  const { rows } = await sql<{ row: Row }>`
    select to_jsonb(t) as row from ${sql.table(table)} t where ${sql.ref(`t.${column}`)} = any(${ids}::uuid[]) order by ${sql.ref(`t.${order}`)}`.execute(
    db,
  )
  return rows.map(({ row }) => row)
}

export type Day = { resource: string; day: string; provider: string; source_type: string; revision: number; sealed: Buffer }

/** Reads days in a fixed order until they hold `samples` samples. */
export async function listDaysAfter(db: Db, user_id: string, after: Day | undefined, samples: number) {
  const { rows } = await sql<Day>`
    select resource, day, provider, source_type, revision, sealed from (
      select *, sum(samples) over (order by resource, day, provider, source_type) - samples as before
      from sample_days where user_id = ${user_id}
        ${after ? sql`and (resource, day, provider, source_type) > (${after.resource}, ${after.day}::date, ${after.provider}, ${after.source_type})` : sql``}
    ) d
    where before < ${samples} order by resource, day, provider, source_type`.execute(db)
  return rows
}

export const listStreamsAfter = (db: Db, user_id: string, after: string | undefined, limit: number) =>
  db
    .selectFrom('workout_streams')
    .selectAll()
    .where('user_id', '=', user_id)
    .$if(after !== undefined, (query) => query.where('workout_id', '>', after as string))
    .orderBy('workout_id')
    .limit(limit)
    .execute()

export const ownerOf = (db: Db, user_id: string) =>
  db.selectFrom('users').select('team_id').where('user_id', '=', user_id).executeTakeFirst()

export const isClientUserIdTaken = async (db: Db, team_id: string, client_user_id: string) =>
  (await db
    .selectFrom('users')
    .select('user_id')
    .where('team_id', '=', team_id)
    .where('client_user_id', '=', client_user_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()) !== undefined

export const listTeamTests = (db: Db, team_id: string) =>
  db
    .selectFrom('lab_tests')
    .select('id')
    .select(sql<Row>`to_jsonb(lab_tests) - 'status'`.as('row'))
    .where('team_id', '=', team_id)
    .orderBy('id')
    .execute()

export const findExistingTests = async (db: Db, ids: string[]) =>
  (await db.selectFrom('lab_tests').select('id').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()).map(({ id }) => id)

export const findExistingAccounts = async (db: Db, ids: string[]) =>
  (await db.selectFrom('lab_accounts').select('id').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()).map(({ id }) => id)
