import type { Insertable } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export const insertVersion = (db: Db, row: Insertable<Tables['results']>) => db.insertInto('results').values(row).execute()

export const latestVersion = (db: Db, order_id: string) =>
  db.selectFrom('results').selectAll().where('order_id', '=', order_id).orderBy('version', 'desc').limit(1).executeTakeFirst()

export const findByDigest = (db: Db, order_id: string, digest: Buffer) =>
  db
    .selectFrom('results')
    .select('version')
    .where('order_id', '=', order_id)
    .where('digest', '=', digest)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
