import { createHash } from 'node:crypto'
import { setupProblem } from '../problem.ts'

/** A table of what belongs to a user. `sealed`: the columns that say where its sealed document has its place. */
export type Part = {
  table: string
  by: 'user_id' | 'order_id'
  sealed?: string[]
  ids: string[]
  order: string
  drop?: string[]
}

export type Row = Record<string, unknown>

export const placeOf = (table: string, columns: string[], row: Row) => `${table}.sealed.${columns.map((column) => row[column]).join('.')}`

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

export const renamed = (row: Row, columns: string[], idOf: IdOf): Row => ({
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

export const brokenLine = (line: number, why: string) => setupProblem(`Line ${line}: ${why}`)
