import { createHmac } from 'node:crypto'
import type { SeriesName } from '../../../contract/wearables/series.ts'
import { isSameText } from '../../../platform/sealing/same-bytes.ts'
import { DAY, HOUR, later } from '../../../platform/time.ts'
import { type Call, type Change, type Cloud, type Feed, isCloudError, type Window } from '../cloud.ts'
import { profileRecords, undated } from '../profile.ts'
import { allItems } from '../reading/pages.ts'
import { mapped } from '../reading/records.ts'
import { isLater } from '../rules-clock.ts'
import { parseJson } from '../untrusted.ts'
import * as api from './api.ts'
import * as map from './map.ts'

/** An application has 10,000 requests per day, so polling only finds what notifications missed. */
const notified = { windowDays: 30, pollMs: 12 * HOUR, trailingDays: 2, windowOf }

/** All of them come from sleeps and their recoveries, so they end with a sleep. */
const sleepSeries: SeriesName[] = ['heartrate', 'hrv', 'blood_oxygen', 'respiratory_rate']

const sleep: Feed = {
  resources: ['sleep', 'heartrate', 'hrv', 'blood_oxygen', 'respiratory_rate'],
  scopes: ['read:sleep'],
  ...notified,
  async *pull(call, window, { granted }) {
    const recoveries = granted('read:recovery') ? await allItems(api.list(call, '/recovery', api.Recovery, window)) : []
    const bySleep = new Map(recoveries.map((recovery) => [recovery.sleep_id, recovery]))
    for await (const page of api.list(call, '/activity/sleep', api.Sleep, window))
      yield {
        summaries: [{ resource: 'sleep', items: mapped(call, 'sleep', page, (sleep) => map.sleepOf(sleep, bySleep.get(sleep.id))) }],
        sessionSeries: { resource: 'sleep', series: sleepSeries },
      }
  },
  // The end of a recovery changes its sleep.
  deletion: ({ kind, object_id: id }) => (kind === 'sleep' ? { resource: 'sleep', id, series: sleepSeries } : undefined),
}

/** There are no notifications about cycles. */
const activity: Feed = {
  resources: ['activity'],
  scopes: ['read:cycles'],
  windowDays: 30,
  pollMs: 6 * HOUR,
  trailingDays: 2,
  async *pull(call, window, { granted }) {
    // A cycle can start more than a day before the last hour of its day.
    const around = { from: later(window.from, -DAY), to: later(window.to, DAY) }
    const sleeps = granted('read:sleep') ? await allItems(api.list(call, '/activity/sleep', api.Sleep, around)) : []
    const cycles = await allItems(api.list(call, '/cycle', api.Cycle, around))
    const items = mapped(call, 'cycle', cycles, (cycle) => map.activityOf(cycle, sleeps))
    yield { summaries: [{ resource: 'activity', items }], complete: { days: ['activity'], window } }
  },
}

const workouts: Feed = {
  resources: ['workouts'],
  scopes: ['read:workout'],
  ...notified,
  async *pull(call, window) {
    for await (const page of api.list(call, '/activity/workout', api.Workout, window))
      yield { summaries: [{ resource: 'workouts', items: mapped(call, 'workout', page, map.workoutOf) }] }
  },
  deletion: ({ object_id: id }) => ({ resource: 'workouts', id, series: [] }),
}

const profile: Feed = {
  resources: ['profile', 'body', 'weight'],
  scopes: ['read:body_measurement'],
  ...undated,
  pollMs: DAY,
  async *pull(call, _, context) {
    const body = await api.getBodyMeasurement(call)
    if (body) yield await profileRecords(map.profileOf(body), context)
  },
}

/** A recovery is named by its sleep, which is read again whether the recovery changed or was deleted. */
async function windowOf(call: Call, { kind, object_id, deleted, at }: Change): Promise<Window | 'deleted' | 'unreadable'> {
  try {
    const session = await api.getSession(call, kind === 'workout' ? 'workout' : 'sleep', object_id)
    if (!session) return 'unreadable'
    const { start, end, updated_at } = session
    if (deleted && kind !== 'recovery' && !isLater(updated_at, at)) return 'deleted'
    return { from: new Date(start).toISOString(), to: new Date(end).toISOString() }
  } catch (error) {
    if (isCloudError(error) && error.fault === 'not_found') return 'deleted'
    throw error
  }
}

const feedsByKind: Record<string, string> = { sleep: 'sleep', recovery: 'sleep', workout: 'workouts' }

/** Longer than WHOOP retries. */
const MAX_AGE_MS = DAY

const receive: NonNullable<Cloud['receive']> = ({ method, headers, body }, { client_secret, now }) => {
  const timestamp = headers['x-whoop-signature-timestamp'] ?? ''
  const signature = createHmac('sha256', client_secret).update(timestamp).update(body).digest('base64')
  if (method !== 'POST' || !isSameText(headers['x-whoop-signature'] ?? '', signature)) return undefined
  const sentAt = Number(timestamp)
  if (!(Math.abs(Date.parse(now) - sentAt) <= MAX_AGE_MS)) return undefined
  const { data: event } = api.Notification.safeParse(parseJson(body))
  const [kind = '', verb] = event?.type.split('.') ?? []
  const feed = feedsByKind[kind]
  if (!event || !feed || (verb !== 'updated' && verb !== 'deleted')) return { changes: [] }
  const change = { kind, object_id: event.id, deleted: verb === 'deleted', at: new Date(sentAt).toISOString() }
  return { changes: [{ account: String(event.user_id), feed, ...change }] }
}

export const whoop: Cloud = {
  api_url: 'https://api.prod.whoop.com',
  tokens: { renewalFields: { scope: 'offline' } },
  identify: api.getUserId,
  registersByHand: true,
  receive,
  feeds: { sleep, activity, workouts, profile },
  async disconnect(call) {
    await api.endAccess(call)
  },
}
