import pg from 'pg'
import { inject } from 'vitest'
import { atEnd } from './at-end.ts'
import { databaseName, databaseUrl, query as queryOnce } from './databases.ts'
import { testConnection } from './test-role.ts'

/** The open connections of the test file, by database. */
const pools = new Map<string, pg.Pool>()

/** Runs a statement. Connections to the server of this run stay open until the test file ends, because opening one costs 20 ms of CPU time. */
export async function query<T extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const { host } = new URL(url)
  // A pooler would carry the tests' own statements too, but not the session they need.
  const isOfRun = [inject('adminUrl'), inject('serviceUrl')].some((server) => new URL(server).host === host)
  // Tests stop other servers, so a connection to one serves one statement.
  if (!isOfRun) return queryOnce<T>(url, text, values)
  return (await poolOf(databaseName(url)).query<T>(text, values)).rows
}

/** Runs a statement on every server of a cluster, or on the only one. */
export const onEveryServer = async <T extends pg.QueryResultRow>(url: string, text: string) =>
  (await Promise.all(inject('servers').map((server) => query<T>(databaseUrl(server, databaseName(url)), text)))).flat()

/** The URL of the same database without a pooler in between, for sessions that belong to one client. */
export const directUrl = (url: string) => databaseUrl(inject('adminUrl'), databaseName(url))

/** A connection of the test to the same database. */
export const asTest = (url: string) => testConnection(directUrl(url))

/** Runs a statement in a transaction that stays open, and returns the function that commits it. */
export async function runUncommitted(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client(asTest(url))
  await client.connect()
  atEnd(() => client.end())
  await client.query('begin')
  await client.query(text, values)
  return () => client.query('commit')
}

/** The server processes that run a statement with this text in the database. */
export const runningStatements = async (url: string, text: string) =>
  (
    await query<{ pid: number }>(
      url,
      `select pid from pg_stat_activity
       where datname = current_database() and state = 'active' and position($1 in query) > 0 and pid <> pg_backend_pid()`,
      [text],
    )
  ).map(({ pid }) => pid)

function poolOf(database: string) {
  const open = pools.get(database)
  if (open) return open
  const pool = new pg.Pool({ ...testConnection(databaseUrl(inject('adminUrl'), database)), max: 5 })
  // A test may end its connections. The next statement opens another.
  pool.on('error', () => {})
  pools.set(database, pool)
  atEnd(async () => {
    pools.delete(database)
    await pool.end()
  })
  return pool
}
