import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

export const NOTIFY_CHANNEL = 'assay_events'

export const notifyWorkers = (db: Db, payload: string) => sql`select pg_notify(${NOTIFY_CHANNEL}, ${payload})`.execute(db)
