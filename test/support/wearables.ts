import type { Client } from '../../src/contract/client.ts'
import { type EventName, messageOf } from '../../src/contract/events.ts'
import type { SummaryName } from '../../src/contract/wearables/summaries.ts'
import type { App } from '../../src/platform/app.ts'
import { eventsOf } from './events.ts'
import { holdLock } from './hold-lock.ts'

export const aSample = (start_date: string, value: unknown, change: object = {}) => ({ value, start_date, ...change })

/** Pushes samples, from Apple Health by default. */
export const push = (api: Client, user_id: string, resource: string, data: unknown[], change: object = {}) =>
  api.pushSamples({ params: { user_id, resource }, body: { provider: 'apple_health_kit', data, ...change } })

/** The events of a user, checked against their schemas. */
export async function userEvents(app: App, team_id: string, user_id: string) {
  const events = await eventsOf(app, team_id, { user_id, limit: 10_000 })
  for (const { event_type, data, user_id, client_user_id, id, created_at } of events) {
    const message = { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at }
    const { error } = messageOf(event_type as EventName).safeParse(message)
    if (error) throw new Error(`${event_type}: ${error.message}`)
  }
  return events.map(({ event_type, data }) => ({ event_type, data: data as Record<string, unknown> & { data: Record<string, unknown>[] } }))
}

/** Pushes summaries of one resource. */
export const pushSummary = (api: Client, user_id: string, resource: SummaryName, data: unknown, change: object = {}) =>
  api.pushSummaries({ params: { user_id, resource }, body: { provider: 'apple_health_kit', data, ...change } })

/** A night from eleven to seven, with stages. */
export const aNight = (change: object = {}) => ({
  id: 'night-1',
  start_date: '2026-03-01T23:00:00+01:00',
  end_date: '2026-03-02T07:00:00+01:00',
  source_type: 'watch',
  heart_rate_mean: 54.4,
  heart_rate_minimum: 47,
  hrv_mean_sdnn: 61.5,
  respiratory_rate_mean: 13.2,
  sleep_stages: {
    awake_sleep_samples: [{ start_date: '2026-03-01T23:00:00+01:00', end_date: '2026-03-01T23:20:00+01:00' }],
    light_sleep_samples: [{ start_date: '2026-03-01T23:20:00+01:00', end_date: '2026-03-02T03:20:00+01:00' }],
    deep_sleep_samples: [{ start_date: '2026-03-02T03:20:00+01:00', end_date: '2026-03-02T05:00:00+01:00' }],
    rem_sleep_samples: [{ start_date: '2026-03-02T05:00:00+01:00', end_date: '2026-03-02T07:00:00+01:00' }],
  },
  ...change,
})

export const aWorkout = (change: object = {}) => ({
  id: 'run-7',
  start_date: '2026-03-01T18:00:00+01:00',
  end_date: '2026-03-01T18:30:00+01:00',
  sport: 'running',
  calories: 310.5,
  distance: 5020,
  heart_rate_mean: 148.6,
  heart_rate_maximum: 171,
  source_type: 'watch',
  ...change,
})

/** Locks the end of every backfill of a user. Returns the function that releases the lock. */
export const holdBackfills = (app: App, team_id: string, user_id: string) =>
  holdLock(app, (db) =>
    db.selectFrom('historical_pulls').selectAll().where('team_id', '=', team_id).where('user_id', '=', user_id).forUpdate().execute(),
  )
