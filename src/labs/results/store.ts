import type { Insertable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export const insertVersion = (db: Db, row: Insertable<Tables['results']>) => db.insertInto('results').values(row).execute()

type OrderKey = { team_id: string; id: string }

/** The reports of an order, latest first. */
const reports = (db: Db, { team_id, id }: OrderKey) =>
  db.selectFrom('results').where('team_id', '=', team_id).where('order_id', '=', id).orderBy('version', 'desc')

export const findLatestVersion = (db: Db, order: OrderKey) => reports(db, order).selectAll().limit(1).executeTakeFirst()

export const findByDigest = (db: Db, order: OrderKey, digest: Buffer) =>
  reports(db, order).select('version').where('digest', '=', digest).limit(1).executeTakeFirst()

export const insertCriticalResult = (db: Db, row: Insertable<Tables['critical_results']>) =>
  db.insertInto('critical_results').values(row).execute()

/** The latest report in which something became critical. */
export const findLatestCritical = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('critical_results')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()

type Acknowledgement = { acknowledged_at: string; acknowledged_kind: string; acknowledged_by: string | null }

/** The first acknowledgement stays. */
export const acknowledge = (db: Db, team_id: string, order_id: string, by: Acknowledgement) =>
  db
    .updateTable('critical_results')
    .set(by)
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('acknowledged_at', 'is', null)
    .execute()
