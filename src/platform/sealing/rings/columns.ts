import type { Tables } from '../../db/tables.ts'

/** A column of ciphertexts that keys of teams or users encrypt. */
export type SealedColumn = {
  table: keyof Tables
  /** The table in the associated data, if it is another one. */
  as?: keyof Tables
  column: string
  /** The primary key without the team. */
  key: readonly string[]
  /** The columns in the associated data. */
  in: readonly string[]
  /** Whose key encrypts: the user's, the team's, or the user's where the row has one. */
  owner: 'user' | 'team' | 'either'
  /** The column with the team, if it is not `team_id`. */
  team?: string
  /** A row without `user_id` belongs to the user of the row with this ID, in this table. */
  through?: { column: string; table: keyof Tables }
}

/** A column of a table without a team. The key of the deployment for this purpose encrypts it. */
export type DeploymentColumn = { table: keyof Tables; column: string; key: readonly string[]; purpose: string }

/** What most tables have: one encrypted column, bound to the ID of the row. */
export const byId = { column: 'sealed', key: ['id'], in: ['id'] }
