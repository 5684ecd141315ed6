import pg from 'pg'
import { inject } from 'vitest'
import { atEnd } from './at-end.ts'
import { query as queryOnce } from './cluster.ts'

/** The open connections of the test file, by URL. */
const pools = new Map<string, pg.Pool>()

/** Runs a statement. Connections to the server of this run stay open until the test file ends, because opening one costs 20 ms of CPU time. */
export async function query<T extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  // Tests stop other servers, so a connection to one serves one statement.
  if (new URL(url).host !== new URL(inject('adminUrl')).host) return queryOnce<T>(url, text, values)
  return (await poolOf(url).query<T>(text, values)).rows
}

function poolOf(url: string) {
  const open = pools.get(url)
  if (open) return open
  const pool = new pg.Pool({ connectionString: url, max: 5 })
  // A test may end its connections. The next statement opens another.
  pool.on('error', () => {})
  pools.set(url, pool)
  atEnd(async () => {
    pools.delete(url)
    await pool.end()
  })
  return pool
}
