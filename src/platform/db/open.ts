import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { setupProblem } from '../problem.ts'
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
const WRITING = 3
const SHARED = 1 + WRITING
const ENOUGH = 2 * SHARED

/** A statement that waits for a lock blocks all statements behind it, so after this long it moves to a connection of its own. */
const LOCKED_MS = 100

export function openDatabase(url: string, size: number, log: Logger): Database {
  const config = { connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'assay', options }
  const shares = size >= ENOUGH
  const pool = new pg.Pool({ ...config, max: shares ? size - SHARED : size })
  // The next query replaces a broken connection. Without a listener the error would end the process.
  let closing = false
  pool.on('connect', (client) => {
    prepareHot(client)
    client.on('error', (error) => {
      if (!closing) log.warn({ code: (error as { code?: string }).code }, 'database connection lost')
    })
  })
  pool.on('error', () => {})
  const sharing = { ...config, options: `${options} -c lock_timeout=${LOCKED_MS}` }
  const lines = shares ? { reading: coalesceReads(openPipelined(sharing)), writing: openPipelinedPool(sharing, WRITING) } : undefined
  const db: Db = Object.assign(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), { pipelined: lines })
  const close = async () => {
    closing = true
    await lines?.reading.close()
    await lines?.writing.close()
    await db.destroy()
  }
  return { db, pool, close }
}

type PipelinedConnections = { reading: PipelinedConnection; writing: PipelinedConnection }

const hot = new Map<string, string>()

/** Runs a statement declared with `prepared`. */
export async function runPrepared<R>(db: Db, text: string, values: unknown[], kind: keyof PipelinedConnections): Promise<R[]> {
  const line = db.pipelined?.[kind]
  const alone = async () => (await db.executeQuery<R>(CompiledQuery.raw(text, values))).rows
  if (!line) return alone()
  try {
    return (await line.run({ name: hot.get(text) as string, text, values })).rows as R[]
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return alone()
  }
}

/** Declares a statement that the server parses once per connection. For the few hot ones. */
export function prepared(name: string, text: string) {
  hot.set(text, name)
  return text
}

type Build<A extends unknown[], R> = (db: Db, ...values: A) => { compile(db: Db): CompiledQuery<R> }

/**
 * A read on the hot path, built once and planned once per connection, because planning costs several times the lookup.
 * `build` receives placeholders, so it must put its values into the query unchanged.
 */
export function preparedRead<A extends unknown[], R>(name: string, build: Build<A, R>) {
  let known: { text: string; valuesOf(sent: A): unknown[] } | undefined
  const compile = (db: Db, count: number) => {
    const standIns = Array.from({ length: count }, () => Symbol(name))
    const { sql, parameters } = build(db, ...(standIns as unknown[] as A)).compile(db)
    const places = parameters.map((value) => standIns.indexOf(value as symbol))
    return { text: prepared(name, sql), valuesOf: (sent: A) => places.map((place, i) => (place < 0 ? parameters[i] : sent[place])) }
  }
  return async (db: Db, ...sent: A) => {
    known ??= compile(db, sent.length)
    return runPrepared<R>(db, known.text, known.valuesOf(sent), 'reading')
  }
}

/** Kysely hands the driver text and values. Statements declared with `prepared` are sent by name. */
function prepareHot(client: pg.PoolClient) {
  const query = client.query.bind(client) as (...sent: unknown[]) => unknown
  const named = (text: unknown, values: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' ? hot.get(text) : undefined
    return name ? query({ name, text, values }, ...rest) : query(text, values, ...rest)
  }
  client.query = named as typeof client.query
}

/** Fails with one line, without the password, if the server cannot be reached or is too old. */
export async function checkServer(database: Database, url: string) {
  const { protocol, host, pathname } = new URL(url)
  const where = `${protocol}//${host}${pathname}`
  const version = await versionOf(database).catch((error: Error) => {
    throw setupProblem(`DATABASE_URL ${where} cannot be used: ${error.message || (error as { code?: string }).code}`)
  })
  if (version < 150_000) throw setupProblem(`DATABASE_URL ${where} is PostgreSQL ${Math.floor(version / 10_000)}; 15 or newer is needed`)
}

async function versionOf({ pool }: Database) {
  const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
  return Number(rows[0]?.server_version_num)
}

const UNIQUE_VIOLATION = '23505'

/** `index` limits it to one unique index. */
export function isUniqueViolation(error: unknown, index?: string) {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === UNIQUE_VIOLATION && (!index || index === constraint)
}

/** The user of a row was erased after the row was read. */
export function isUserGone(error: unknown) {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23503' && /user_id_fkey/.test(constraint ?? '')
}

/** A deadlock or a serialization failure. */
export const isDeadlock = (error: unknown) => ['40P01', '40001'].includes((error as { code?: string }).code ?? '')

/** Another transaction held a lock longer than the lock timeout. */
export const isLockTimeout = (error: unknown) => (error as { code?: string }).code === '55P03'

/** The statement timeout canceled a statement. */
export const isStatementTimeout = (error: unknown) => (error as { code?: string }).code === '57014'

/** SQLSTATE classes for a database that is unavailable for now: connection, shutdown, resources. */
export function isDatabaseAway(error: unknown) {
  const { code, message } = error as { code?: string; message?: string }
  if (code) return /^(08|57P|53|40)/.test(code) || ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'].includes(code)
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(message ?? '')
}
