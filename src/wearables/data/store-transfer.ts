import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Inserts rows of a team export. A resumed import repeats samples and streams; existing ones stay. */
export const inserts = {
  summaries: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('summaries'), 'summaries', rows),
  deleted_summaries: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('deleted_summaries'), 'deleted_summaries', rows),
  resource_states: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('resource_states'), 'resource_states', rows),
  historical_pulls: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('historical_pulls'), 'historical_pulls', rows),
  sample_days: (db: Db, rows: JsonRow[]) =>
    insertJson(
      db.insertInto('sample_days').onConflict((conflict) => conflict.doNothing()),
      'sample_days',
      rows,
    ),
  workout_streams: (db: Db, rows: JsonRow[]) =>
    insertJson(
      db.insertInto('workout_streams').onConflict((conflict) => conflict.doNothing()),
      'workout_streams',
      rows,
    ),
}
