import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { setupProblem } from '../problem.ts'
import { isLockTimeout } from './errors.ts'
import { coalesceReads, openPipelined, openPipelinedPool, type PipelinedConnection } from './pipelined-connections.ts'
import type { Tables } from './tables.ts'

/** Outside a transaction it carries the pipelined connections. Inside one, every statement uses the transaction's connection. */
export type Db = Kysely<Tables> & { pipelined?: PipelinedConnections | undefined }

/** A connection checked out of the pool. */
export type PoolConnection = pg.PoolClient

export type Database = { db: Db; pool: pg.Pool; close(): Promise<void> }

const INT8 = 20
const DATE = 1082
const TIMESTAMPTZ = 1184

pg.types.setTypeParser(INT8, Number)
pg.types.setTypeParser(DATE, (text) => text)
pg.types.setTypeParser(TIMESTAMPTZ, (text) => new Date(text).toISOString())

/** Timestamps are UTC, whatever the server's setting. */
const options = '-c timezone=UTC -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000'

/** The connections reserved for pipelined statements, if the pool is large enough. */
const WRITE_CONNECTIONS = 3
const PIPELINED_CONNECTIONS = 1 + WRITE_CONNECTIONS
const MIN_POOL_SIZE = 2 * PIPELINED_CONNECTIONS

/** A statement that waits for a lock blocks all statements behind it, so after this long it moves to a connection of its own. */
const LOCK_TIMEOUT_MS = 100

export function openDatabase(url: string, size: number, log: Logger): Database {
  const config = { connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'assay', options }
  const usesPipelines = size >= MIN_POOL_SIZE
  const pool = new pg.Pool({ ...config, max: usesPipelines ? size - PIPELINED_CONNECTIONS : size })
  // The next query replaces a broken connection. Without a listener the error would end the process.
  let closing = false
  pool.on('connect', (client) => {
    sendByName(client)
    client.on('error', (error) => {
      if (!closing) log.warn({ code: (error as { code?: string }).code }, 'database connection lost')
    })
  })
  pool.on('error', () => {})
  const pipelinedConfig = { ...config, options: `${options} -c lock_timeout=${LOCK_TIMEOUT_MS}` }
  const pipelined = usesPipelines
    ? { reading: coalesceReads(openPipelined(pipelinedConfig)), writing: openPipelinedPool(pipelinedConfig, WRITE_CONNECTIONS) }
    : undefined
  const db: Db = Object.assign(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), { pipelined })
  const close = async () => {
    closing = true
    await pipelined?.reading.close()
    await pipelined?.writing.close()
    await db.destroy()
  }
  return { db, pool, close }
}

type PipelinedConnections = { reading: PipelinedConnection; writing: PipelinedConnection }

// Modules register their SQL text here when they load; it holds no state of a service.
const preparedNames = new Map<string, string>()

/** Runs a statement declared with `prepareStatement`. */
export async function runPrepared<R>(db: Db, text: string, values: unknown[], kind: keyof PipelinedConnections): Promise<R[]> {
  const connection = db.pipelined?.[kind]
  const runUnpipelined = async () => (await db.executeQuery<R>(CompiledQuery.raw(text, values))).rows
  if (!connection) return runUnpipelined()
  try {
    return (await connection.run({ name: preparedNames.get(text) as string, text, values })).rows as R[]
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return runUnpipelined()
  }
}

/** Declares a statement that the server parses once per connection. Use it for hot statements only. */
export function prepareStatement(name: string, text: string) {
  preparedNames.set(text, name)
  return text
}

type Build<A extends unknown[], R> = (db: Db, ...values: A) => { compile(db: Db): CompiledQuery<R> }

/**
 * A read on the hot path, built once and planned once per connection, because planning costs several times the lookup.
 * `build` receives placeholders, so it must put its values into the query unchanged.
 */
export function prepareRead<A extends unknown[], R>(name: string, build: Build<A, R>) {
  let compiled: { text: string; valuesOf(values: A): unknown[] } | undefined
  const compile = (db: Db, count: number) => {
    const placeholders = Array.from({ length: count }, () => Symbol(name))
    const { sql, parameters } = build(db, ...(placeholders as unknown[] as A)).compile(db)
    const positions = parameters.map((value) => placeholders.indexOf(value as symbol))
    return {
      text: prepareStatement(name, sql),
      valuesOf: (values: A) => positions.map((position, i) => (position < 0 ? parameters[i] : values[position])),
    }
  }
  return async (db: Db, ...values: A) => {
    compiled ??= compile(db, values.length)
    return runPrepared<R>(db, compiled.text, compiled.valuesOf(values), 'reading')
  }
}

/** Kysely passes text and values to the driver. Statements declared with `prepareStatement` are sent by name. */
function sendByName(client: pg.PoolClient) {
  const query = client.query.bind(client) as (...values: unknown[]) => unknown
  const queryByName = (text: unknown, values: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' ? preparedNames.get(text) : undefined
    return name ? query({ name, text, values }, ...rest) : query(text, values, ...rest)
  }
  client.query = queryByName as typeof client.query
}

/** Fails with one line, without the password, if the server cannot be reached or is too old. */
export async function checkServer(database: Database, url: string) {
  const { protocol, host, pathname } = new URL(url)
  const shownUrl = `${protocol}//${host}${pathname}`
  const version = await versionOf(database).catch((error: Error) => {
    throw setupProblem(`DATABASE_URL ${shownUrl} cannot be used: ${error.message || (error as { code?: string }).code}`)
  })
  if (version < 150_000)
    throw setupProblem(`DATABASE_URL ${shownUrl} is PostgreSQL ${Math.floor(version / 10_000)}; PostgreSQL 15 or newer is required`)
}

async function versionOf({ pool }: Database) {
  const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
  return Number(rows[0]?.server_version_num)
}
