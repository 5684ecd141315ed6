import type { Db } from '../db/open.ts'

/** Locks the clock, or answers nothing while another journey of the team has it; other work of the team goes on. */
export const lockClock = (db: Db, team_id: string) =>
  db.selectFrom('teams').select('clock_offset_ms').where('id', '=', team_id).forNoKeyUpdate().skipLocked().executeTakeFirst()

export const setClockOffset = (db: Db, team_id: string, clock_offset_ms: number) =>
  db.updateTable('teams').set({ clock_offset_ms }).where('id', '=', team_id).execute()
