import { DatabaseError } from 'pg'

const UNIQUE_VIOLATION = '23505'
const READ_ONLY = '25006'

const FOREIGN_KEY_VIOLATION = '23503'

/** The server rejected a statement. */
export const isDatabaseError = (error: unknown): error is DatabaseError => error instanceof DatabaseError

type ConstraintError = { code?: string; constraint?: string; message?: string }

/** `index` limits the check to one unique index. */
export function isUniqueViolation(error: unknown, index?: string) {
  const found = error as ConstraintError
  return found.code === UNIQUE_VIOLATION && (!index || index === constraintOf(found))
}

/** The user of a row was erased after the row was read. */
export function isUserErased(error: unknown) {
  const found = error as ConstraintError
  return found.code === FOREIGN_KEY_VIOLATION && constraintOf(found).endsWith('user_id_fkey')
}

/** Citus names the constraint of a shard, which ends in the shard's number, sometimes only in the message: the last word in quotes. */
function constraintOf({ constraint, message = '' }: ConstraintError) {
  const [, inMessage = ''] = /"([^"]+)"[^"]*$/.exec(message) ?? []
  return (constraint ?? inMessage).replace(/_\d+$/, '')
}

/** A deadlock, a serialization failure, or a team that has just moved to another server of the cluster. The transaction can run again. */
export const isDeadlock = (error: unknown) => ['40P01', '40001'].includes((error as { code?: string }).code ?? '') || isTeamMoved(error)

const STALE = 'AS003'

/** Another request changed a row after it was read, so a statement that names the earlier revision never succeeds. */
const isStale = (error: unknown) => (error as { code?: string }).code === STALE

export const staleError = (message: string) => Object.assign(new Error(message), { code: STALE })

/** Work that reads its rows again can start over. */
export const canStartOver = (error: unknown) => isDeadlock(error) || isStale(error)

/** A function call reached the server that the team has just left. Citus has no SQLSTATE for it. */
export const isTeamMoved = (error: unknown) =>
  (error as { message?: string }).message === 'cannot execute a distributed query from a query on a shard'

/** Another transaction held a lock longer than the lock timeout. */
export const isLockTimeout = (error: unknown) => (error as { code?: string }).code === '55P03'

/** Another transaction has created a table with this name meanwhile. */
export const isDuplicateTable = (error: unknown) => (error as { code?: string }).code === '42P07'

/** The statement timeout canceled a statement. */
export const isStatementTimeout = (error: unknown) => (error as { code?: string }).code === '57014'

/** A prepared statement is missing, another one has its name, or transactions are refused. Only a pooler can cause that. */
export const isPoolerError = (error: unknown) => ['26000', '42P05', '08P01'].includes((error as { code?: string }).code ?? '')

/** The server is a standby, or a promotion has not finished. */
export const isReadOnly = (error: unknown) => (error as { code?: string }).code === READ_ONLY

export const readOnlyError = (message: string) => Object.assign(new Error(message), { code: READ_ONLY })

/** The server cannot be reached: refused, reset, silent, or its name does not resolve for now. */
const networkErrors = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOENT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN'],
])

/** Errors of the driver, which have no code. */
const driverErrors =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client has encountered a connection error|Postgres connection has been discarded/

const DISK_FULL = '53100'

/** PostgreSQL has no SQLSTATE for an exceeded quota of a file system. */
export function isDiskFull(error: unknown) {
  const { code, message } = error as { code?: string; message?: string }
  return code === DISK_FULL || /No space left on device|Disk quota exceeded/.test(message ?? '')
}

/** PgBouncer lost its connection to the server. The SQLSTATE is that of a protocol violation, as for most errors of PgBouncer. */
const LOST_BY_POOLER = 'server conn crashed?'

/**
 * The connection ended before or during the statement: the server was restarted, or ended the connection. The coordinator of a
 * cluster reports a lost worker with severity ERROR, and its own connection goes on.
 */
export function isConnectionLost(error: unknown) {
  const { code, severity, message } = error as { code?: string; severity?: string; message?: string }
  if (severity === 'ERROR') return false
  if (message === LOST_BY_POOLER) return true
  return code ? /^(57P0[12]|08003|08006|ECONNRESET|EPIPE)$/.test(code) : /Connection terminated|not queryable/.test(message ?? '')
}

/** Runs a read once more if its connection was lost, or if it lost a deadlock. The next connection is a new one. */
export const retryRead = <T>(read: () => Promise<T>): Promise<T> =>
  read().catch((error) => {
    if (!isConnectionLost(error) && !isDeadlock(error)) throw error
    return read()
  })

/** SQLSTATE classes for a database that is unavailable for now: connection, shutdown, resources. */
export function isDatabaseUnavailable(error: unknown) {
  const { code, message } = error as { code?: string; message?: string }
  if (isTeamMoved(error) || isStale(error) || isDiskFull(error)) return true
  return code ? /^(08|57P|53|40)/.test(code) || code === READ_ONLY || networkErrors.has(code) : driverErrors.test(message ?? '')
}
