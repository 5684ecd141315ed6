import { createHash } from 'node:crypto'
import { setupProblem } from '../../platform/problem.ts'

type Row = Record<string, unknown>

export const associatedDataOf = (table: string, columns: string[], row: Row) =>
  `${table}.sealed.${columns.map((column) => row[column]).join('.')}`

/** Derives new IDs from the team and the old ID, so a repeated import finds the rows of the first. */
export function newIdMapper(team_id: string) {
  return <T>(old: T): T => (typeof old === 'string' ? (newIdOf(`${team_id}/${old}`) as T) : old)
}

function newIdOf(text: string) {
  const hash = createHash('sha256').update(text).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
}

export const renameIds = (row: Row, columns: string[], idOf: ReturnType<typeof newIdMapper>): Row => ({
  ...row,
  ...Object.fromEntries(columns.map((column) => [column, idOf(row[column])])),
})

export const lineProblem = (line: number, reason: string) => setupProblem(`Line ${line}: ${reason}`)
