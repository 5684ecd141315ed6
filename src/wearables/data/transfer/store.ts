import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../../platform/db/rows/json-rows.ts'

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

/** A resumed import repeats days and streams. Existing ones stay. */
export const insertDays = (db: Db, rows: JsonRow[]) =>
  insertJson(
    db.insertInto('sample_days').onConflict((conflict) => conflict.doNothing()),
    'sample_days',
    rows,
  )

export const insertStreams = (db: Db, rows: JsonRow[]) =>
  insertJson(
    db.insertInto('workout_streams').onConflict((conflict) => conflict.doNothing()),
    'workout_streams',
    rows,
  )
