import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  orders: async (db: Db, rows: JsonRow[]) => {
    await insertJson(db.insertInto('orders'), 'orders', rows)
    await insertJson(db.insertInto('lab_samples'), 'lab_samples', rows.filter(hasSample).map(sampleOf))
  },
  order_events: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_events'), 'order_events', rows),
  order_images: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_images'), 'order_images', rows),
}

const hasSample = ({ sample_id }: JsonRow) => typeof sample_id === 'string'

const sampleOf = ({ lab_id, sample_id, team_id, id: order_id }: JsonRow) => ({ lab_id, sample_id, team_id, order_id })
