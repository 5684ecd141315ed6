import { type App, type AppInTransaction, onTeamClock } from '../../platform/app.ts'
import * as store from './store.ts'

/** The app on the team's clock, for work that no request of the team started. */
export async function withTeamClock(app: App, team_id: string): Promise<App> {
  const clock = await store.findClock(app.db, team_id)
  return clock ? onTeamClock(app, clock) : app
}

/** Locks the team's clock until the caller's transaction ends; undefined while another transaction moves it. */
export const lockTeamClock = async (app: AppInTransaction, team_id: string) =>
  (await store.tryLockClock(app.db, team_id)) ? store.findClock(app.db, team_id) : undefined

/** Moves the team's clock in the caller's transaction. */
export function setClockOffset(app: AppInTransaction, team_id: string, clock_offset_ms: number) {
  app.wake('caller changed', team_id)
  return store.setClockOffset(app.db, team_id, clock_offset_ms)
}
