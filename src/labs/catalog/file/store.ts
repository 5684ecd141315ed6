import { type Insertable, sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

const LOAD_LOCK_ID = 4_117_202_604

/** Serializes replicas that start at the same time. */
export const lockLoading = (db: Db) => sql`select pg_advisory_xact_lock(${LOAD_LOCK_ID})`.execute(db)

export const findLoadedCatalog = (db: Db) => db.selectFrom('catalog').select(['version', 'loaded_at']).executeTakeFirst()

export type SharedTable = 'labs' | 'analytes' | 'markers' | 'lab_tests' | 'service_centers' | 'phlebotomy_areas' | 'zip_codes' | 'catalog'
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

/** Returns the tests of any team that have one of the IDs. */
export const findTeamTests = (db: Db, ids: string[]) =>
  db
    .selectFrom('team_lab_tests')
    .select('id')
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .modifyEnd(anyTeam('lab tests with the IDs of the catalog'))
    .execute()

/** Archives tests that the catalog no longer has. */
export const archiveOtherTests = (db: Db, ids: string[], at: string) =>
  db
    .updateTable('lab_tests')
    .set({ archived_at: at, updated_at: at })
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

/** Deletes the sites, phlebotomy areas and ZIP codes, so that the catalog can write those it has. */
export async function deletePlaces(db: Db) {
  for (const table of ['service_centers', 'phlebotomy_areas', 'zip_codes'] as const) await db.deleteFrom(table).execute()
}

export const insertAreas = (db: Db, rows: SharedRow<'phlebotomy_areas'>[]) => db.insertInto('phlebotomy_areas').values(rows).execute()

const countOf = (from: string) => sql<number>`(select count(*) from ${sql.raw(from)})`

/** Marker and lab test counts per lab, in total and orderable. */
export const countByLab = (db: Db) =>
  db
    .selectFrom('labs')
    .select(['id', 'slug', 'name'])
    .select([
      countOf('markers where lab_id = labs.id').as('markers'),
      countOf('markers where lab_id = labs.id and is_orderable').as('orderable'),
      countOf('lab_tests where lab_id = labs.id').as('tests'),
      countOf("lab_tests where lab_id = labs.id and status = 'active'").as('active'),
    ])
    .orderBy('id')
    .execute()

export const countShared = (db: Db) =>
  db
    .selectNoFrom([
      countOf('analytes').as('analytes'),
      countOf('payors').as('payors'),
      countOf('icd_codes').as('icd_codes'),
      countOf('service_centers').as('service_centers'),
      countOf('phlebotomy_areas').as('phlebotomy_areas'),
      countOf('zip_codes').as('zip_codes'),
    ])
    .executeTakeFirstOrThrow()
