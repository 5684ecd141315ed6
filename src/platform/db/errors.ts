const UNIQUE_VIOLATION = '23505'

/** `index` limits the check to one unique index. */
export function isUniqueViolation(error: unknown, index?: string) {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === UNIQUE_VIOLATION && (!index || index === constraint)
}

/** The user of a row was erased after the row was read. */
export function isUserErased(error: unknown) {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23503' && /user_id_fkey/.test(constraint ?? '')
}

/** A deadlock or a serialization failure. */
export const isDeadlock = (error: unknown) => ['40P01', '40001'].includes((error as { code?: string }).code ?? '')

/** Another transaction held a lock longer than the lock timeout. */
export const isLockTimeout = (error: unknown) => (error as { code?: string }).code === '55P03'

/** The statement timeout canceled a statement. */
export const isStatementTimeout = (error: unknown) => (error as { code?: string }).code === '57014'

/** The server cannot be reached: refused, reset, silent, or its name does not resolve for now. */
const networkErrors = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOENT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN'],
])

/** Errors of the driver, which have no code. */
const driverErrors = /Connection terminated|timeout exceeded when trying to connect|timeout expired|not queryable/

/** The database is unavailable for now. The SQLSTATE classes are connection, shutdown, resources and rollback. */
export function isDatabaseUnavailable(error: unknown) {
  const { code, message } = error as { code?: string; message?: string }
  return code ? /^(08|57P|53|40)/.test(code) || networkErrors.has(code) : driverErrors.test(message ?? '')
}
