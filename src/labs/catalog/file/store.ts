import { type Insertable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

const LOAD_LOCK_ID = 4_117_202_604

/** Serializes replicas that start at the same time. */
export const lockLoading = (db: Db) => sql`select pg_advisory_xact_lock(${LOAD_LOCK_ID})`.execute(db)

export const findLoadedCatalog = (db: Db) => db.selectFrom('catalogue').select(['version', 'loaded_at']).executeTakeFirst()

export type SharedTable = 'labs' | 'analytes' | 'markers' | 'lab_tests' | 'service_centers' | 'catalogue'
export type SharedRow<T extends SharedTable> = Insertable<Tables[T]>

/** Upserts catalog rows by key; existing non-null values of the columns in `keptColumns` stay. */
export const upsert = <T extends SharedTable>(db: Db, table: T, rows: SharedRow<T>[], key: string, keptColumns: string[] = []) => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== key)
  const newValue = (column: string) =>
    keptColumns.includes(column)
      ? sql`coalesce(${sql.ref(`${table}.${column}`)}, ${sql.ref(`excluded.${column}`)})`
      : sql.ref(`excluded.${column}`)
  return (
    db
      .insertInto(table as SharedTable)
      // With a generic table the builder cannot match the rows to the table.
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

/** Returns the tests that belong to a team. */
export const findTeamTests = (db: Db, ids: string[]) =>
  db.selectFrom('lab_tests').select('id').where('team_id', 'is not', null).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

/** Archives shared tests that the catalog no longer has. */
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

/** Marker and shared lab test counts per lab, in total and orderable. */
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
