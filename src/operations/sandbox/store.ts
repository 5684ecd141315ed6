import type { Db } from '../../platform/db/open.ts'

/** Locks the clock, or answers nothing while another journey of the team has it; other work of the team goes on. */
export const lockClock = (db: Db, team_id: string) =>
  db.selectFrom('teams').select('clock_offset_ms').where('id', '=', team_id).forNoKeyUpdate().skipLocked().executeTakeFirst()

export const setClockOffset = (db: Db, team_id: string, clock_offset_ms: number) =>
  db.updateTable('teams').set({ clock_offset_ms }).where('id', '=', team_id).execute()

const countOf = ({ numDeletedRows }: { numDeletedRows: bigint }) => Number(numDeletedRows)

export const deleteOrders = async (db: Db, team_id: string) =>
  countOf(await db.deleteFrom('orders').where('team_id', '=', team_id).executeTakeFirst())

/** Takes their keys, events and everything sealed by them along. */
export const deleteUsers = async (db: Db, team_id: string) =>
  countOf(await db.deleteFrom('users').where('team_id', '=', team_id).executeTakeFirst())

/** Those that are being executed are left to whoever executes them. */
export const deleteKeptOutcomes = (db: Db, team_id: string) =>
  db.deleteFrom('idempotency_keys').where('team_id', '=', team_id).where('status', 'is not', null).execute()

export const deleteInbox = (db: Db, team_id: string) => db.deleteFrom('inbox_messages').where('team_id', '=', team_id).execute()
