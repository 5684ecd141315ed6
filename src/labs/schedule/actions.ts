import type { Calendar } from '../../contract/labs/calendars.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { isTimeZone } from '../../platform/time.ts'
import { listLabs } from '../catalog/markers.ts'
import { requireNamedLab } from '../catalog/rules-labs.ts'
import * as store from './store.ts'

type Scope = Pick<TeamCaller, 'team_id'>

export const getSchedule = async (app: App, { team_id }: Scope) => ({ calendars: await store.listCalendars(app.db, team_id) })

/** Replaces the team's own schedule. Booked visits stay. */
export const putSchedule = (app: App, { team_id }: Scope, calendars: Calendar[]) =>
  inTransaction(app, async (app) => {
    await checkCalendars(app, calendars)
    await store.replaceCalendars(app.db, team_id, calendars, app.wall())
    return { calendars: await store.listCalendars(app.db, team_id) }
  })

/** Replaces the schedule that all teams share. Booked visits stay. */
export const putSharedSchedule = (app: App, calendars: Calendar[]) =>
  inTransaction(app, async (app) => {
    await checkCalendars(app, calendars)
    await store.replaceSharedCalendars(app.db, calendars, app.wall())
    return { calendars: await store.listSharedCalendars(app.db) }
  })

export const getSharedSchedule = async ({ db }: App) => ({ calendars: await store.listSharedCalendars(db) })

async function checkCalendars(app: App, calendars: Calendar[]) {
  const labs = await listLabs(app)
  for (const { kind, provider } of calendars) if (kind === 'site') requireNamedLab(labs, provider)
  const strange = calendars.findIndex(({ iana_timezone }) => !isTimeZone(iana_timezone))
  if (strange >= 0) throw invalid(['body', 'calendars', strange, 'iana_timezone'], 'Must be an IANA time zone, such as America/Phoenix.')
  const codes = calendars.map(({ code }) => code)
  if (new Set(codes).size < codes.length) throw problem('CALENDAR_TWICE', 'Two calendars have the same code. Give each its own code.')
}

/** Frees the shared time of a team whose orders are deleted. */
export const releaseSharedTime = ({ db }: AppInTransaction, team_id: string) => store.releaseShared(db, team_id)
