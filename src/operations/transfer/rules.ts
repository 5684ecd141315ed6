import { createHash } from 'node:crypto'
import { setupProblem } from '../../platform/problem.ts'

/** A table of what belongs to a user. `sealed`: the columns that say where its sealed document has its place. */
export type Part = {
  table: string
  by: 'user_id' | 'order_id'
  sealed?: string[]
  ids: string[]
  order: string
  /** Columns that stay behind. */
  drop?: string[]
  /** Fields of the sealed document that stay behind. */
  secret?: string[]
}

export type Row = Record<string, unknown>

export const associatedDataOf = (table: string, columns: string[], row: Row) =>
  `${table}.sealed.${columns.map((column) => row[column]).join('.')}`

/** The ids that a copy gets: always the same ones for the same team, so that a second try meets what the first has written. */
export function newIds(team_id: string) {
  return (old: unknown) => {
    if (typeof old !== 'string') return old
    const hash = createHash('sha256').update(`${team_id}/${old}`).digest()
    hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
    hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
    return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
  }
}

export type IdOf = ReturnType<typeof newIds>

export const renameIds = (row: Row, columns: string[], idOf: IdOf): Row => ({
  ...row,
  ...Object.fromEntries(columns.map((column) => [column, idOf(row[column])])),
})

/** A copy is history: no lab gets it, no sample is its own, nothing of it falls due. */
export const asHistory = (order: Row): Row => ({
  ...order,
  sample_id: null,
  sent_at: null,
  dispatch_at: null,
  step_at: null,
  simulation: null,
})

/** Without its tokens a source lets nobody in; the user has to connect again. */
export const withoutAccess = (connection: Row, at: string): Row =>
  connection['kind'] !== 'oauth'
    ? connection
    : {
        ...connection,
        ...{ status: 'error', error_type: 'token_refresh_failed', errored_at: at, expires_at: null },
        error_message: 'The connection came from another place without its access; the user has to connect again.',
      }

/** Nobody goes on with a reading of the past that was under way elsewhere. */
export const noLongerRead = (pull: Row, at: string): Row =>
  pull['status'] === 'success' || pull['status'] === 'failure'
    ? pull
    : { ...pull, status: 'failure', error_details: 'non_retriable_error', ended_at: at }

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A document with the new ids of what it names: a sleep, a device. Whatever else looks like an id stays. */
export const renameIdsInside = <T>(document: T, named: Set<unknown>, idOf: IdOf): T =>
  JSON.parse(JSON.stringify(document).replaceAll(UUID, (id) => (named.has(id) ? String(idOf(id)) : id))) as T

export const brokenLine = (line: number, why: string) => setupProblem(`Line ${line}: ${why}`)
