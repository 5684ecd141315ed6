import { type InsertQueryBuilder, type InsertResult, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** A row as `to_jsonb` writes it. */
export type JsonRow = Record<string, unknown>

/** A bytea value in JSON, as PostgreSQL reads it. */
export const byteaText = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

/** Inserts rows of `table`, which all have the columns of the first. */
export async function insertJson<T extends keyof Tables>(into: InsertQueryBuilder<Tables, T, InsertResult>, table: T, rows: JsonRow[]) {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first)
  const list = sql.join(columns.map((column) => sql.ref(column)))
  await into
    // The columns come from an export, so the compiler cannot know them.
    .columns(columns as never)
    .expression(sql`select ${list} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`)
    .execute()
}
