import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  orders: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('orders'), 'orders', rows),
  order_events: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_events'), 'order_events', rows),
  order_images: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_images'), 'order_images', rows),
}
