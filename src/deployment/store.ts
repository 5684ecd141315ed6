import { type Insertable, sql } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

const LOCK = 4_117_202_603

/** Replicas that start together come one after the other here. */
export const lockStart = (db: Db) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(db)

export const ping = (db: Db) => sql`select 1`.execute(db)

export const findDeployment = (db: Db) => db.selectFrom('deployment').selectAll().executeTakeFirst()

export const insertDeployment = (db: Db, row: Insertable<Tables['deployment']>) => db.insertInto('deployment').values(row).execute()
