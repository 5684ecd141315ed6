import { lowLevels } from '../../contract/labs/lifecycle.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { DAY, HOUR, later, MINUTE } from '../../platform/time.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Counts are exact so far. */
const MOST = 10_000
const SHOWN = 10
const RECENT = 20
const PULSE = 30 * MINUTE

/** How a team is doing, in six reads that take no longer for a million orders than for ten thousand. */
export async function getOverview(app: App, { team_id }: TeamCaller) {
  const { db } = app
  const at = app.wall()
  const [steps, criticals, figures, backlog, logged, activity] = await Promise.all([
    store.countSteps(db, team_id, lowLevels, MOST),
    store.openCriticals(db, team_id, MOST),
    store.attemptFigures(db, team_id, { hour: later(at, -HOUR), day: later(at, -DAY) }, MOST),
    store.backlogOf(db, team_id, MOST),
    store.loggedByMinute(db, team_id, later(at, -DAY), MOST),
    store.newestEvents(db, team_id, later(at, -7 * DAY), RECENT),
  ])
  return {
    at: app.now(),
    ...rules.stagesOf(steps, MOST),
    critical_unacknowledged: { ...rules.countByStage(criticals.length, MOST), newest: criticals.slice(0, SHOWN) },
    deliveries: {
      last_hour: rules.figuresOf(figures.hour),
      last_day: rules.figuresOf(figures.day),
      backlog: { count: backlog.waiting, at_least: backlog.lanes >= MOST },
      oldest_waiting_at: backlog.oldest_at,
    },
    ingestion: rules.ingestionOf(logged, MOST),
    pulse: rules.pulseOf(logged, later(at, -PULSE), MOST),
    activity,
  }
}
