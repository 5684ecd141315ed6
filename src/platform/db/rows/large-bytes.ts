import { sql } from 'kysely'
import type { Db } from '../open.ts'
import type { Tables } from '../tables.ts'

const PIECE_BYTES = 1024 * 1024

/**
 * Reads a column of a row, which can have many megabytes, in pieces. PostgreSQL sends bytes as hexadecimal text, and
 * decoding 10 MB of it at once would hold the event loop for 100 ms. Undefined if there is no such row, or nothing in it.
 */
export async function readLargeBytes(
  db: Db,
  table: keyof Tables,
  key: Record<string, string | number>,
  column = 'sealed',
): Promise<Buffer | undefined> {
  const conditions = Object.entries(key).map(([column, value]) => sql`${sql.ref(`t.${column}`)} = ${value}`)
  const bytes = sql.ref(`t.${column}`)
  const { rows } = await sql<{ start: number; piece: Buffer }>`
    select start, substring(${bytes} from start for ${PIECE_BYTES}) as piece
    from ${sql.table(table)} t, generate_series(1, octet_length(${bytes}), ${PIECE_BYTES}) start
    where ${sql.join(conditions, sql` and `)}`.execute(db)
  return rows.length ? Buffer.concat(rows.sort((a, b) => a.start - b.start).map(({ piece }) => piece)) : undefined
}
