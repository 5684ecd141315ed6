import { createHash } from 'node:crypto'
import { setupProblem } from '../../platform/problem.ts'

/** A table with user data. `sealed` lists the columns in the associated data of its encrypted document. */
export type Part = {
  table: string
  by: 'user_id' | 'order_id'
  sealed?: string[]
  ids: string[]
  /** Columns that order the rows of a user without ties, so that two exports of the same data are equal. */
  order: string[]
  /** Columns that are not exported. */
  drop?: string[]
  /** Fields of the encrypted document that are not exported. */
  secret?: string[]
  /** The encrypted part is a file, not a document. Exports have it in Base64. */
  isFile?: boolean
  /** Whether a row is encrypted with the key of the team. */
  isOfTeam?(row: Row): boolean
}

export type Row = Record<string, unknown>

export const associatedDataOf = (table: string, columns: string[], row: Row) =>
  `${table}.sealed.${columns.map((column) => row[column]).join('.')}`

/** Derives new IDs from the team and the old ID, so a repeated import finds the rows of the first. */
export function newIdMapper(team_id: string) {
  return (old: unknown) => {
    if (typeof old !== 'string') return old
    const hash = createHash('sha256').update(`${team_id}/${old}`).digest()
    hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
    hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
    return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
  }
}

export type IdOf = ReturnType<typeof newIdMapper>

export const renameIds = (row: Row, columns: string[], idOf: IdOf): Row => ({
  ...row,
  ...Object.fromEntries(columns.map((column) => [column, idOf(row[column])])),
})

/** A copied order is history: Assay sends it to no lab and schedules no work for it. */
export const toHistory = (order: Row): Row => ({
  ...order,
  sample_id: null,
  sent_at: null,
  dispatch_at: null,
  step_at: null,
  simulation: null,
})

/** Exports contain no tokens, so the user has to connect the source again. */
export const requireReconnect = (connection: Row, at: string): Row =>
  connection['kind'] !== 'oauth'
    ? connection
    : {
        ...connection,
        ...{ status: 'error', error_type: 'token_refresh_failed', errored_at: at, expires_at: null },
        error_message: 'The connection was imported without its tokens. The user has to connect again.',
      }

/** Assay reads nothing until the user connects again. The backfill then goes on where it stopped. */
export const toPausedJob = (job: Row): Row => ({ ...job, due_at: null, requests: 0, tries: 0, error: null, skipped: [] })

/** Nobody gets a message twice because their team was copied. */
export const toLoggedMessage = (message: Row): Row =>
  message['status'] === 'planned' || message['status'] === 'queued'
    ? { ...message, status: 'canceled', planned_at: null, send_at: null, error: 'copied' }
    : message

/** The original parses the files. */
export const toEndedParsing = (job: Row): Row =>
  job['due_at'] === null ? job : { ...job, status: 'failed', failure_reason: 'processing_error', due_at: null }

/** An import does not continue a historical pull that was running. */
export const endRunningPull = (pull: Row, at: string): Row =>
  pull['status'] === 'success' || pull['status'] === 'failure'
    ? pull
    : { ...pull, status: 'failure', error_details: 'non_retriable_error', ended_at: at }

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Replaces the IDs of referenced records, such as a sleep or a device, in a document. Other IDs stay. */
export const renameIdsInside = <T>(document: T, referenced: Set<unknown>, idOf: IdOf): T =>
  JSON.parse(JSON.stringify(document).replaceAll(UUID, (id) => (referenced.has(id) ? String(idOf(id)) : id))) as T

/** A bytea value in JSON, as PostgreSQL reads it. */
export const byteaText = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

export const lineProblem = (line: number, reason: string) => setupProblem(`Line ${line}: ${reason}`)
