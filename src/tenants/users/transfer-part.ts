import type { AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Problem } from '../../platform/problem.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'

/** A table with data of users, in the export of a team. */
export type Part = {
  table: keyof Tables
  /** A row belongs to the user of the row with this ID, in this table. Without it, `user_id` has the user. */
  through?: { column: string; table: keyof Tables }
  /** The columns in the associated data of the encrypted document. */
  sealed?: string[]
  /** Columns with IDs. A copy gets new ones. */
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
  isOfTeam?(row: JsonRow): boolean
  /** Whether to export a row. */
  isExported?(row: JsonRow, rowsOf: RowsOf): boolean
  /** Changes rows before they are encrypted and written, or leaves some out. */
  adapt?(rows: JsonRow[], imported: Import): JsonRow[] | Promise<JsonRow[]>
  /** Makes the search terms and hashes of a row with the keys of the target team and user. */
  rehash?(row: JsonRow, imported: Import): JsonRow | Promise<JsonRow>
  /** Writes what goes with the rows. */
  finish?(app: AppInTransaction, rows: JsonRow[]): Promise<void>
}

/** The exported rows of the same user in a table. */
export type RowsOf = (table: keyof Tables) => JsonRow[]

/** The import of one user. */
export type Import = {
  app: AppInTransaction
  team_id: string
  /** The key of the user. */
  key: SealingKey
  /** The original continues, so a copy is history: nothing is sent for it, and nothing waits for it. */
  isCopy: boolean
  idOf: IdOf
  rowsOf: RowsOf
  refuse: Refuse
}

/** The ID after the import. */
export type IdOf = <T>(id: T) => T

/** A problem that names the line of the export. */
export type Refuse = (reason: string) => Problem
