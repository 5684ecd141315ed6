import type { ColumnType, Generated } from 'kysely'

/** Times are ISO text in and out; `open.ts` sets the parsers. */
export type Time = string
/** Written as JSON text, because the driver would turn a list into an SQL array. Read back as the parsed value. */
export type Json<T> = ColumnType<T, string | null | undefined, string | null>
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

/** The tables of the database. The `tables.ts` of each feature adds its own. */
export interface Tables {
  migrations: { name: string; ran_at: Generated<Time>; oldest: string }
  function_files: { name: string; hash: Buffer }
  heartbeat: { one: Generated<boolean>; at: Time }
  processes: { id: string; newest: string; leased_until: Time; root_epoch: Optional<number> }
}
