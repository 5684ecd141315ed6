import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { setupProblem } from '../problem.ts'
import { clientClass } from './connections/clients.ts'
import { newFairPool } from './connections/fair-pool.ts'
import { urlsOfHosts, writableHost } from './connections/hosts.ts'
import { startLostServerChecks } from './connections/lost-servers.ts'
import { coalesceReads, openPipelined, openPipelinedPool, type PipelinedConnection } from './connections/pipelined-connections.ts'
import { newSpaceWatch, type SpaceWatch } from './connections/space.ts'
import { retryDeadlocks } from './deadlocks.ts'
import { isConnectionLost, isDeadlock, isLockTimeout, isReadOnly } from './errors.ts'
import type { Tables } from './tables.ts'

/** Outside a transaction it carries the pipelined connections and the URL. Inside one, every statement uses the transaction's connection. */
export type Db = Kysely<Tables> & { pipelined?: PipelinedConnections | undefined; url?: string | undefined; space?: SpaceWatch }

/** A connection checked out of the pool. */
export type PoolConnection = pg.PoolClient

/** A connection outside the pool. */
export type Connection = pg.Client

/** Poolers reject settings in a startup packet, so the settings belong to the role; see role-settings.ts. */
const configOf = (urls: string[]) => ({
  connectionString: urls[0] as string,
  connectionTimeoutMillis: 10_000,
  // An idle connection to a lost machine ends after 20 seconds.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  // Jobs use several connections at once every few seconds, and connecting costs more than their statements.
  idleTimeoutMillis: 300_000,
  application_name: 'assay',
})

const writableAmong = (urls: string[]) => (urls.length > 1 ? writableHost(urls) : undefined)

/** Opens a connection to the host that accepts writes, for LISTEN, which needs a session of its own. */
export async function connectDirect(url: string): Promise<Connection> {
  const urls = urlsOfHosts(url)
  const Client = clientClass({ writable: writableAmong(urls) })
  return new Client(configOf(urls)).connect()
}

export type Database = {
  db: Db
  pool: pg.Pool
  /** The number of requests that wait for a connection. */
  countWaiting(): number
  close(): Promise<void>
}

const INT8 = 20
const INT8_LIST = 1016 as number
const DATE = 1082
const TIMESTAMPTZ = 1184

pg.types.setTypeParser(INT8, Number)
pg.types.setTypeParser(INT8_LIST, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)))
pg.types.setTypeParser(DATE, (text) => text)
pg.types.setTypeParser(TIMESTAMPTZ, isoOf)

/** Sessions use UTC, so most times are rewritten without a Date, which takes several times as long. */
const inUtc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

function isoOf(text: string) {
  const [, day, time, fraction = ''] = inUtc.exec(text) ?? []
  return day ? `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z` : new Date(text).toISOString()
}

/** The connections reserved for pipelined statements, if the pool is large enough. */
const WRITE_CONNECTIONS = 3
const PIPELINED_CONNECTIONS = 1 + WRITE_CONNECTIONS
const MIN_POOL_SIZE = 2 * PIPELINED_CONNECTIONS

/** A statement that waits for a lock blocks all statements behind it, so after this long it moves to a connection of its own. */
const LOCK_TIMEOUT_MS = 100

type DatabaseOptions = {
  /** A read replica, so a standby is accepted. */
  isReplica?: boolean
}

export function openDatabase(url: string, size: number, log: Logger, { isReplica = false }: DatabaseOptions = {}): Database {
  const urls = urlsOfHosts(url)
  const config = configOf(urls)
  const writable = writableAmong(urls)
  const opened = new Set<pg.Client>()
  const space = newSpaceWatch()
  const Client = clientClass({ writable, allowStandby: isReplica, open: opened, onDiskFull: space.noteFailure })
  const usesPipelines = size >= MIN_POOL_SIZE
  const pool = new pg.Pool({ ...config, Client, max: usesPipelines ? size - PIPELINED_CONNECTIONS : size })
  // The next query replaces a broken connection. Without a listener the error would end the process.
  let closing = false
  pool.on('connect', (client) => {
    sendByName(client, () => endUnusable(client))
    client.on('error', (error) => {
      writable?.forget()
      if (!closing) log.warn({ code: (error as { code?: string }).code }, 'database connection lost')
    })
  })
  pool.on('error', () => {})
  /** The server became a standby, is not promoted yet, or ended the connection. The next connection looks for the one that accepts writes. */
  const endUnusable = (client: pg.ClientBase) => {
    writable?.forget()
    ;(client as pg.Client).end().catch(() => {})
  }
  const checks = startLostServerChecks({
    open: opened,
    hasMoved: writable?.hasMoved,
    onLost: (connections) => log.warn({ connections }, 'database server lost'),
  })
  const newPipelined = () => new Client({ ...config, pipeline: true } as pg.ClientConfig).on('error', () => writable?.forget())
  const open = (afterBatch?: (send: () => void) => void) => openPipelined(newPipelined, endUnusable, afterBatch)
  const fair = newFairPool(pool)
  const pipelined = usesPipelines
    ? {
        // A batch of reads is complete when it is sent, so it does not wait for another turn.
        reading: coalesceReads(open(process.nextTick)),
        writing: openPipelinedPool(open, WRITE_CONNECTIONS),
        hasFreeConnection: fair.hasFree,
      }
    : undefined
  const db: Db = Object.assign(new Kysely<Tables>({ dialect: new PostgresDialect({ pool: fair }) }), { pipelined, url, space })
  const close = async () => {
    closing = true
    checks.stop()
    await pipelined?.reading.close()
    await pipelined?.writing.close()
    await db.destroy()
    // Kysely ends the pool only if it ran a statement.
    if (!pool.ending) await pool.end()
  }
  return { db, pool, countWaiting: fair.countWaiting, close }
}

type PipelinedConnections = {
  reading: PipelinedConnection
  writing: ReturnType<typeof openPipelinedPool>
  /** Whether the pool would hand out a connection at once. */
  hasFreeConnection(): boolean
}

// Modules register their SQL text here when they load; it holds no state of a service.
const preparedNames = new Map<string, string>()

/** Runs a statement declared with `prepareStatement` on the connection of `db`. */
export const runPrepared = async <R>(db: Db, text: string, values: unknown[]): Promise<R[]> =>
  (await db.executeQuery<R>(CompiledQuery.raw(text, values))).rows

/** Runs a prepared read on the pipelined connection, or on the transaction's if one is open. */
export const runHotRead = async <R>(db: Db, text: string, values: unknown[]): Promise<R[]> => {
  const { pipelined } = db
  return pipelined ? retryDeadlocks(() => runPipelined<R>(pipelined.reading, text, values)) : runPrepared(db, text, values)
}

type HotWrite = {
  /** The items of a statement that writes for several requests. It fails if it has to wait for a lock. */
  items?: number
}

/**
 * Runs a prepared write on a pipelined connection, or on the transaction's if one is open. The statement calls a function
 * whose last parameter, `lock_ms`, limits the wait for a lock. It is added to the values here.
 */
export async function runHotWrite<R>(db: Db, text: string, values: unknown[], { items = 1 }: HotWrite = {}): Promise<R[]> {
  if (db.pipelined)
    try {
      return await runPipelined(db.pipelined.writing, text, [...values, LOCK_TIMEOUT_MS])
    } catch (error) {
      if (items > 1 || (!isLockTimeout(error) && !isDeadlock(error))) throw error
    }
  const run = () => runPrepared<R>(db, text, [...values, null])
  return db.isTransaction ? run() : retryDeadlocks(run)
}

/** Runs a prepared write that never waits for a lock, so that neither a busy pool nor the writes of other requests delay it. */
export async function runQuickWrite<R>(db: Db, text: string, values: unknown[]): Promise<R[]> {
  if (!db.pipelined || (db.pipelined.writing.isBusy() && db.pipelined.hasFreeConnection())) return runPrepared(db, text, values)
  return runPipelined(db.pipelined.writing, text, values)
}

const runPipelined = async <R>(connection: PipelinedConnection, text: string, values: unknown[]) =>
  (await connection.run({ name: preparedNames.get(text) as string, text, values })).rows as R[]

/** `$1, $2` and so on. */
export const parameterList = (count: number) => Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')

/** Declares a statement that the server parses once per connection. Use it for hot statements only. */
export function prepareStatement(name: string, text: string) {
  preparedNames.set(text, name)
  return text
}

type Build<A extends unknown[], R> = (db: Db, ...values: A) => { compile(db: Db): CompiledQuery<R> }

/**
 * A read on the hot path, built once and planned once per connection, because planning costs several times the lookup.
 * `build` receives placeholders, so it must put its values into the query unchanged. It names its columns: after a migration
 * that adds one, PostgreSQL would reject a prepared `*`, and a pooler would keep the statement for every process. A read of
 * many rows takes `runPrepared`, so that the others do not wait for it.
 */
export function prepareRead<A extends unknown[], R>(name: string, build: Build<A, R>, run: typeof runHotRead = runHotRead) {
  let compiled: { text: string; valuesOf(values: A): unknown[] } | undefined
  const compile = (db: Db, count: number) => {
    const placeholders = Array.from({ length: count }, () => Symbol(name))
    const { sql, parameters } = build(db, ...(placeholders as unknown[] as A)).compile(db)
    if (/(select |\.)\*/.test(sql)) throw new Error(`The prepared read ${name} must name its columns.`)
    const positions = parameters.map((value) => placeholders.indexOf(value as symbol))
    return {
      text: prepareStatement(name, sql),
      valuesOf: (values: A) => positions.map((position, i) => (position < 0 ? parameters[i] : values[position])),
    }
  }
  return async (db: Db, ...values: A) => {
    compiled ??= compile(db, values.length)
    return run<R>(db, compiled.text, compiled.valuesOf(values))
  }
}

/** The same for a search of a job, which can take longer than a request may wait. */
export const prepareSearch = <A extends unknown[], R>(name: string, build: Build<A, R>) => prepareRead(name, build, runPrepared)

/**
 * Reads of a first page, by its size. The limit is part of the text: with a parameter, a plan for any value would expect a
 * tenth of all rows.
 */
export const prepareFirstPages = <A extends unknown[], R>(name: string, build: (limit: number) => Build<A, R>) =>
  new Map([10, 20, 25, 50, 100].map((limit) => [limit, prepareRead(`${name}_${limit}`, build(limit), runPrepared)]))

/** Kysely passes text and values to the driver. Statements declared with `prepareStatement` are sent by name. */
function sendByName(client: pg.PoolClient, onUnusable: () => void) {
  const query = client.query.bind(client) as (...values: unknown[]) => unknown
  const queryByName = (text: unknown, values: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' ? preparedNames.get(text) : undefined
    const result = name ? query({ name, text, values }, ...rest) : query(text, values, ...rest)
    if (result instanceof Promise)
      result.catch((error) => {
        if (isReadOnly(error) || isConnectionLost(error)) onUnusable()
      })
    return result
  }
  client.query = queryByName as typeof client.query
}

/** Fails with one line, without the password, if the server of a setting cannot be reached or is too old. */
export async function checkServer(database: Database, url: string, setting = 'DATABASE_URL') {
  const shownUrl = urlsOfHosts(url)
    .map((single) => new URL(single))
    .map(({ protocol, host, pathname }) => `${protocol}//${host}${pathname}`)
    .join(' or ')
  const version = await versionOf(database).catch((error: Error) => {
    throw setupProblem(`${setting} ${shownUrl} cannot be used: ${error.message || (error as { code?: string }).code}`)
  })
  if (version < 150_000)
    throw setupProblem(`${setting} ${shownUrl} is PostgreSQL ${Math.floor(version / 10_000)}; PostgreSQL 15 or newer is required`)
}

async function versionOf({ pool }: Database) {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    return Number(rows[0]?.server_version_num)
  } finally {
    // The first start changes settings of the role, which only new connections have.
    client.release(true)
  }
}
