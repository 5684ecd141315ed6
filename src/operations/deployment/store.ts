import { type Insertable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

const LOCK_ID = 4_117_202_603

/** Serializes replicas that start together. */
export const lockStart = (db: Db) => sql`select pg_advisory_xact_lock(${LOCK_ID})`.execute(db)

export const ping = (db: Db) => sql`select 1`.execute(db)

export async function hasData(db: Db) {
  const { rows } = await sql<{ migrated: boolean; tables: number }>`
    select to_regclass('migrations') is not null as migrated,
      (select count(*) from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p'))::integer as tables`.execute(db)
  const found = rows[0]
  if (!found?.tables) return false
  return !found.migrated || (await findDeployment(db)) !== undefined
}

/** Names the deployment of a database in a query. */
export const identity = sql<string | null>`(select encode(key_check, 'hex') || ' ' || extract(epoch from created_at) from deployment)`

export const findDeployment = (db: Db) => db.selectFrom('deployment').selectAll().executeTakeFirst()

export const insertDeployment = (db: Db, row: Insertable<Tables['deployment']>) => db.insertInto('deployment').values(row).execute()
