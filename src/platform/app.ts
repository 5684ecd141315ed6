import type { Logger } from 'pino'
import type { Caches } from './caches.ts'
import type { Config } from './config.ts'
import type { Replica } from './db/connections/replica.ts'
import { retryDeadlocks } from './db/deadlocks.ts'
import { canStartOver, isDatabaseUnavailable } from './db/errors.ts'
import type { Db } from './db/open.ts'
import { type RequestRows, writeRequestRows } from './db/rows/request-rows.ts'
import type { SealingKey } from './sealing/seal.ts'
import type { Vault } from './sealing/vault.ts'
import { later } from './time.ts'
import { type Receivers, receive, type WakeUp } from './wake-ups/wake-up.ts'

/** Lives as long as the process. An interface, so that a feature can add what it calls in features above it. */
export interface Service {
  config: Config
  db: Db
  /** A copy of the database for reads that may be a few seconds old. */
  replica?: Replica | undefined
  vault: Vault
  caches: Caches
  log: Logger
  /** Parses responses that are already in shape again, and fails if that changes one. Tests set it. */
  checksShapes: boolean
  /** Real time as ISO text, for leases, tokens, retention and audit. */
  wall(): string
  /** Milliseconds of a clock that never goes back, for what this process may keep for a while. */
  monotonic(): number
  /** Wakes the processes that a change concerns. Inside a transaction, after the commit. */
  wake(type: WakeUp['type'], id: string): void
  /** What wakes this process. */
  receivers: Receivers
}

/** Lives as long as one request or one run of a job. */
type RequestContext = {
  /** The domain clock as ISO text: real time, moved by the offset of the caller's team in the sandbox. */
  now(): string
  /** Aborts when the client disconnects or the service stops. Set for streams and jobs. */
  signal?: AbortSignal | undefined
  /** Set for an HTTP request. */
  request?: HttpRequest
  /** Builds the rows that the request commits together with its action. `user` is the key of the user the result is about, where the action has it. */
  requestRows?: ((app: App, result: unknown, user?: SealingKey) => Promise<RequestRows>) | undefined
}

/** Lives as long as one transaction. `db` is its connection. */
export type Transaction = {
  db: Db
  transaction: true
}

/** The first argument of every action: the service, the request or job run, and the open transaction if there is one. */
export type App = Service & RequestContext & Partial<Omit<Transaction, 'db'>>

/** The app inside `inTransaction`: for functions whose writes must commit together with others. */
export type AppInTransaction = App & Transaction

/** The app of endpoints that begin or end a console session. */
export type AppInRequest = App & { request: HttpRequest }

export type HttpRequest = {
  address: string
  request_id: string
  /** The session secret that the browser sent, valid or not. */
  session?: string | undefined
  /** Sets the session cookie of the response; null clears it. */
  setSession(secret: string | null): void
  /** The token of a browser in which someone has signed in before, valid or not. */
  device?: string | undefined
  setDevice(token: string): void
}

type Made = 'caches' | 'lastUses' | 'wake' | 'receivers'
type Replaceable = 'wall' | 'monotonic' | 'checksShapes'
/** With what features add, so that no service lacks it. */
type Parts = Omit<Service, Made | Replaceable> & Partial<Pick<Service, Replaceable>>

/** A service that is not connected to other processes yet, so it wakes only itself. */
export function newService({ checksShapes = false, ...parts }: Parts): Service {
  const { wall = () => new Date().toISOString(), monotonic = () => performance.now() } = parts
  const receivers: Receivers = {}
  const wake = (type: WakeUp['type'], id: string) => void receive(receivers, { type, id })
  return { ...parts, wall, monotonic, checksShapes, caches: new Map(), wake, receivers }
}

/** The app of a job run, a command and everything else that is not a request. */
export const appOf = (service: Service): App => ({ ...service, now: service.wall, wake: (type, id) => service.wake(type, id) })

/** The app on the clock of a team: real time plus the team's offset. */
export const onTeamClock = <A extends App>(app: A, { clock_offset_ms }: { clock_offset_ms: number }): A =>
  clock_offset_ms ? { ...app, now: () => later(app.wall(), clock_offset_ms) } : app

/** Leaves the request's rows to a later transaction of the same action. */
export const withoutRequestRows = (app: App): App => ({ ...app, requestRows: undefined })

/** Reads from the replica if there is one that is recent enough. Otherwise, or if the replica fails, reads from the primary. */
export async function onReplica<T>(app: App, read: (app: App) => Promise<T>): Promise<T> {
  const db = app.transaction ? undefined : app.replica?.current()
  if (!db) return read(app)
  try {
    return await read({ ...app, db })
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    app.replica?.suspend()
    return read(app)
  }
}

type Options = {
  /** False where the caller has to start over itself after a deadlock. */
  retry?: boolean
}

/**
 * Runs `work` in a transaction, or in the caller's if one is open, and commits the request's rows with it.
 * Use the app that `work` receives: the outer `db` is not part of the transaction.
 */
export async function inTransaction<A extends App, T>(app: A, work: Work<A, T>, { retry = true }: Options = {}): Promise<T> {
  if (isInTransaction(app)) return work(app)
  return retry ? retryDeadlocks(() => commit(app, work), canStartOver) : commit(app, work)
}

type Work<A, T> = (app: A & Transaction) => Promise<T>

const isInTransaction = <A extends App>(app: A): app is A & Transaction => app.transaction !== undefined

async function commit<A extends App, T>(app: A, work: Work<A, T>): Promise<T> {
  const wakeUps = new Map<string, Parameters<App['wake']>>()
  const result = await app.db.transaction().execute(async (db) => {
    const inside: A & Transaction = { ...app, db, transaction: true, wake: (...wakeUp) => void wakeUps.set(wakeUp.join(), wakeUp) }
    const result = await work(inside)
    if (app.requestRows) await writeRequestRows(db, await app.requestRows(inside, result))
    return result
  })
  for (const wakeUp of wakeUps.values()) app.wake(...wakeUp)
  return result
}
