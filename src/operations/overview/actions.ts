import { stepNames } from '../../contract/labs/lifecycle.ts'
import { countWaitingOfTeam } from '../../delivery/webhooks/backlog.ts'
import { type App, onReplica } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { DAY, HOUR, later, MINUTE } from '../../platform/time.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Counts are exact up to this limit. */
const COUNT_LIMIT = 10_000
const MAX_CRITICALS = 10
const MAX_EVENTS = 20
const PULSE_MS = 30 * MINUTE

/** Reads a team's overview. Each query is bounded, so the time does not grow with the number of orders. */
export const getOverview = (app: App, { team_id }: TeamCaller) => onReplica(app, (app) => readOverview(app, team_id))

async function readOverview(app: App, team_id: string) {
  const { db } = app
  const at = app.wall()
  const [steps, criticals, unmatched, stats, backlog, logged, activity] = await Promise.all([
    store.countSteps(db, team_id, stepNames, COUNT_LIMIT),
    store.listUnacknowledgedCriticals(db, team_id, COUNT_LIMIT),
    store.countCriticalUnmatched(db, team_id, COUNT_LIMIT),
    store.summarizeAttempts(db, team_id, { hour: later(at, -HOUR), day: later(at, -DAY) }, COUNT_LIMIT),
    countWaitingOfTeam(db, team_id),
    store.countEventsByMinute(db, team_id, later(at, -DAY), COUNT_LIMIT),
    store.listNewestEvents(db, team_id, later(at, -7 * DAY), MAX_EVENTS),
  ])
  return {
    at: app.now(),
    ...rules.stagesOf(steps, COUNT_LIMIT),
    critical_unacknowledged: { ...rules.boundedCount(criticals.length, COUNT_LIMIT), newest: criticals.slice(0, MAX_CRITICALS) },
    critical_unmatched: rules.boundedCount(unmatched, COUNT_LIMIT),
    deliveries: {
      last_hour: rules.presentStats(stats.hour),
      last_day: rules.presentStats(stats.day),
      backlog: { count: backlog.count, at_least: backlog.isAtLeast },
      oldest_waiting_at: backlog.oldest_at,
    },
    ingestion: rules.ingestionOf(logged, COUNT_LIMIT),
    pulse: rules.pulseOf(logged, later(at, -PULSE_MS), COUNT_LIMIT),
    activity,
  }
}
