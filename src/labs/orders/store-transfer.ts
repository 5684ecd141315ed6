import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  orders: async (db: Db, rows: JsonRow[]) => {
    await insertJson(db.insertInto('orders'), 'orders', rows)
    await insertJson(db.insertInto('lab_samples'), 'lab_samples', samplesOf(rows))
  },
  order_events: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_events'), 'order_events', rows),
  order_images: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('order_images'), 'order_images', rows),
}

/** Of orders with the same specimen, the latest has it: it continues the others. */
function samplesOf(rows: JsonRow[]) {
  const sampled = rows.filter(({ sample_id }) => typeof sample_id === 'string')
  const latest = new Map(sampled.map((row) => [`${row['lab_id']} ${row['sample_id']}`, row]))
  return [...latest.values()].map(({ lab_id, sample_id, team_id, id: order_id }) => ({ lab_id, sample_id, team_id, order_id }))
}
