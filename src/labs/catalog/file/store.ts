import { type Insertable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

const LOAD_LOCK_ID = 4_117_202_604

/** Replicas that start together load one after the other. */
export const lockLoading = (db: Db) => sql`select pg_advisory_xact_lock(${LOAD_LOCK_ID})`.execute(db)

export const findLoadedCatalog = (db: Db) => db.selectFrom('catalogue').select(['version', 'loaded_at']).executeTakeFirst()

export type SharedTable = 'labs' | 'analytes' | 'markers' | 'lab_tests' | 'service_centers' | 'catalogue'
export type SharedRow<T extends SharedTable> = Insertable<Tables[T]>

/** Writes rows of the catalogue over those that are there by their key; columns in `kept` stay as they are there, unless they are empty. */
export const upsert = <T extends SharedTable>(db: Db, table: T, rows: SharedRow<T>[], key: string, kept: string[] = []) => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== key)
  const newValue = (column: string) =>
    kept.includes(column)
      ? sql`coalesce(${sql.ref(`${table}.${column}`)}, ${sql.ref(`excluded.${column}`)})`
      : sql.ref(`excluded.${column}`)
  return (
    db
      .insertInto(table as SharedTable)
      // The builder cannot see that the rows are those of the table once the table is a parameter.
      .values(rows as never)
      .onConflict((conflict) =>
        conflict.column(key as never).doUpdateSet(Object.fromEntries(columns.map((column) => [column, newValue(column)])) as never),
      )
      .execute()
  )
}

export const clearTestMarkers = (db: Db, test_ids: string[]) =>
  db.deleteFrom('lab_test_markers').where('lab_test_id', '=', sql<string>`any(${test_ids}::uuid[])`).execute()

export const insertTestMarkers = (db: Db, rows: Insertable<Tables['lab_test_markers']>[]) =>
  db.insertInto('lab_test_markers').values(rows).execute()

/** Those of the tests that belong to a team. */
export const findTeamTests = (db: Db, ids: string[]) =>
  db.selectFrom('lab_tests').select('id').where('team_id', 'is not', null).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

/** Archives what the catalogue had and has no more. */
export const archiveOtherTests = (db: Db, ids: string[], at: string) =>
  db
    .updateTable('lab_tests')
    .set({ archived_at: at, updated_at: at })
    .where('team_id', 'is', null)
    .where('archived_at', 'is', null)
    .where('id', '<>', sql<string>`all(${ids}::uuid[])`)
    .returning('id')
    .execute()

export const retireOtherMarkers = (db: Db, ids: number[]) =>
  db
    .updateTable('markers')
    .set({ is_orderable: false })
    .where('is_orderable', '=', true)
    .where('id', '<>', sql<number>`all(${ids}::int[])`)
    .returning('id')
    .execute()

const countOf = (from: string) => sql<number>`(select count(*) from ${sql.raw(from)})`

/** Each lab with how many markers and shared lab tests it has, and how many of them can be ordered. */
export const countByLab = (db: Db) =>
  db
    .selectFrom('labs')
    .select(['id', 'slug', 'name'])
    .select([
      countOf('markers where lab_id = labs.id').as('markers'),
      countOf('markers where lab_id = labs.id and is_orderable').as('orderable'),
      countOf('lab_tests where lab_id = labs.id and team_id is null').as('tests'),
      countOf("lab_tests where lab_id = labs.id and team_id is null and status = 'active'").as('active'),
    ])
    .orderBy('id')
    .execute()

export const countShared = (db: Db) =>
  db
    .selectNoFrom([
      countOf('analytes').as('analytes'),
      countOf('payors where team_id is null').as('payors'),
      countOf('icd_codes').as('icd_codes'),
      countOf('service_centers').as('service_centers'),
    ])
    .executeTakeFirstOrThrow()
