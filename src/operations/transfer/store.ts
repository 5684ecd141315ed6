import { sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Tables } from '../../platform/db/tables.ts'

type Listing = { table: keyof Tables; through?: { column: string }; order: string[] }

/** The names must come from the code, never from a caller. */
export async function listRows(db: Db, team_id: string, { table, through, order }: Listing, ids: string[]): Promise<JsonRow[]> {
  const { rows } = await sql<{ row: JsonRow }>`
    select to_jsonb(t) as row from ${sql.table(table)} t
    where t.team_id = ${team_id} and ${sql.ref(`t.${through?.column ?? 'user_id'}`)} = any(${ids}::uuid[])
    order by ${sql.join(order.map((column) => sql.ref(`t.${column}`)))}`.execute(db)
  return rows.map(({ row }) => row)
}

/** The owners of the tables list them in `transfer.ts`. */
export const insertRows = (db: Db, table: keyof Tables, rows: JsonRow[]) => insertJson(db.insertInto(table), table, rows)
