import type { Calendar } from '../../contract/labs/calendars.ts'
import type { AppInTransaction } from '../../platform/app.ts'
import * as store from './store.ts'

export { listCalendars } from './store.ts'

/** Writes the exported schedule, unless the team has one. */
export async function importSchedule({ db, wall }: AppInTransaction, team_id: string, calendars: Calendar[]) {
  if (!(await store.listCalendars(db, team_id)).length) await store.replaceCalendars(db, team_id, calendars, wall())
}
