import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { setupProblem } from '../problem.ts'
import { clientClass } from './connections/clients.ts'
import { newFairPool } from './connections/fair-pool.ts'
import { urlsOfHosts, writableHost } from './connections/hosts.ts'
import { startLostServerChecks } from './connections/lost-servers.ts'
import { coalesceReads, openPipelined, type PipelinedConnection } from './connections/pipelined-connections.ts'
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

/** One for hot reads and one for hot writes, if that leaves most connections to the pool. */
const PIPELINED_CONNECTIONS = 2
const MIN_POOL_SIZE = 3 * PIPELINED_CONNECTIONS

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
  const fair = newFairPool(pool)
  const pipelined = usesPipelines
    ? {
        // A batch of reads is complete when it is sent, so it does not wait for another turn.
        read: coalesceReads(openPipelined(newPipelined, endUnusable, { afterBatch: process.nextTick })),
        write: openPipelined(newPipelined, endUnusable),
        hasFreeConnection: fair.hasFree,
      }
    : undefined
  const db: Db = Object.assign(new Kysely<Tables>({ dialect: new PostgresDialect({ pool: fair }) }), { pipelined, url, space })
  const close = async () => {
    closing = true
    checks.stop()
    await pipelined?.read.close()
    await pipelined?.write.close()
    await db.destroy()
    // Kysely ends the pool only if it ran a statement.
    if (!pool.ending) await pool.end()
  }
  return { db, pool, countWaiting: fair.countWaiting, close }
}

type PipelinedConnections = {
  read: PipelinedConnection
  write: PipelinedConnection
  /** Whether the pool would hand out a connection at once. */
  hasFreeConnection(): boolean
}

/** A statement that the server parses once per connection. */
export type Statement = StatementOptions & { name: string; text: string }

type StatementOptions = {
  /** Short and frequent, so it shares a pipelined connection with others of its kind. It is a transaction of its own. */
  hot?: 'read' | 'write' | undefined
  /** It calls a function whose last parameter, `lock_ms`, limits the wait for a lock. `run` adds the value. */
  locks?: true
}

// Modules register their SQL text here when they load; it holds no state of a service.
const preparedNames = new Map<string, string>()

/** Declares a statement that runs often. */
export function prepareStatement(name: string, text: string, options: StatementOptions = {}): Statement {
  preparedNames.set(text, name)
  return { ...options, name, text }
}

/** A longer statement would delay the others on a pipelined connection. */
export const MAX_PIPELINED_BYTES = 256 * 1024

type RunOptions = {
  /** The items of a statement that writes for several requests. It fails if it has to wait for a lock. */
  items?: number
}

/**
 * Runs a statement: in the open transaction if there is one, a hot one on a pipelined connection, and another on one of the pool. A hot
 * statement that would wait for a lock runs again on a connection of the pool.
 */
export async function run<R>(db: Db, statement: Statement, values: unknown[], { items = 1 }: RunOptions = {}): Promise<R[]> {
  const { text, hot, locks } = statement
  const withLimit = locks ? [...values, LOCK_TIMEOUT_MS] : values
  const shared = hot && pipelinedConnection(db, hot, values)
  if (shared)
    try {
      return (await shared.run({ ...statement, values: withLimit })).rows as R[]
    } catch (error) {
      if (items > 1 || !(isDeadlock(error) || (locks && isLockTimeout(error)))) throw error
    }
  const query = CompiledQuery.raw(text, locks && items === 1 ? [...values, null] : withLimit)
  const runAlone = async () => (await db.executeQuery<R>(query)).rows
  return hot && !db.isTransaction ? retryDeadlocks(runAlone) : runAlone()
}

/** Undefined if the statement takes a connection of the pool. */
function pipelinedConnection({ pipelined }: Db, hot: 'read' | 'write', values: unknown[]) {
  if (!pipelined || bytesOf(values) > MAX_PIPELINED_BYTES) return undefined
  return pipelined[hot].isStuck() && pipelined.hasFreeConnection() ? undefined : pipelined[hot]
}

const bytesOf = (values: unknown[]): number =>
  values.reduce<number>((sum, value) => {
    if (typeof value === 'string' || Buffer.isBuffer(value)) return sum + Buffer.byteLength(value)
    return Array.isArray(value) ? sum + bytesOf(value) : sum
  }, 0)

/** `$1, $2` and so on. */
export const parameterList = (count: number) => Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')

type Build<A extends unknown[], R> = (db: Db, ...values: A) => { compile(db: Db): CompiledQuery<R> }

/**
 * A read on the hot path, built once and planned once per connection, because planning costs several times the lookup.
 * `build` receives placeholders, so it must put its values into the query unchanged. It names its columns: after a migration
 * that adds one, PostgreSQL would reject a prepared `*`, and a pooler would keep the statement for every process. A read of
 * many rows is a `prepareSearch`, so that the others do not wait for it.
 */
export function prepareRead<A extends unknown[], R>(name: string, build: Build<A, R>, options: StatementOptions = { hot: 'read' }) {
  let compiled: { statement: Statement; valuesOf(values: A): unknown[] } | undefined
  const compile = (db: Db, count: number) => {
    const placeholders = Array.from({ length: count }, () => Symbol(name))
    const { sql, parameters } = build(db, ...(placeholders as unknown[] as A)).compile(db)
    if (/(select |\.)\*/.test(sql)) throw new Error(`The prepared read ${name} must name its columns.`)
    const positions = parameters.map((value) => placeholders.indexOf(value as symbol))
    return {
      statement: prepareStatement(name, sql, options),
      valuesOf: (values: A) => positions.map((position, i) => (position < 0 ? parameters[i] : values[position])),
    }
  }
  return async (db: Db, ...values: A) => {
    compiled ??= compile(db, values.length)
    return run<R>(db, compiled.statement, compiled.valuesOf(values))
  }
}

/** A statement that is built once, and may take longer or wait for a lock, so it does not share a connection. */
export const prepareSearch = <A extends unknown[], R>(name: string, build: Build<A, R>) => prepareRead(name, build, {})

/**
 * Reads of a first page, by its size. The limit is part of the text: with a parameter, a plan for any value would expect a
 * tenth of all rows.
 */
export const prepareFirstPages = <A extends unknown[], R>(name: string, build: (limit: number) => Build<A, R>) =>
  new Map([10, 20, 25, 50, 100].map((limit) => [limit, prepareSearch(`${name}_${limit}`, build(limit))]))

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
