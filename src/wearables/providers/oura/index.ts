import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { SeriesName } from '../../../contract/wearables/series.ts'
import { isSameText } from '../../../platform/sealing/same-bytes.ts'
import { DAY, HOUR, later } from '../../../platform/time.ts'
import { type Call, type Change, type Cloud, type Feed, isCloudError, type Window } from '../cloud.ts'
import { profileRecords, undated } from '../profile.ts'
import { allItems } from '../reading/pages.ts'
import { mapped } from '../reading/records.ts'
import { isLater, isSession } from '../rules-clock.ts'
import { parseJson } from '../untrusted.ts'
import * as api from './api.ts'
import * as map from './map.ts'

/** The path of each kind of object that notifications name, and the feed that reads it. */
const kinds: Record<string, { feed: string; path: string }> = {
  sleep: { feed: 'sleep', path: 'sleep' },
  daily_sleep: { feed: 'sleep', path: 'daily_sleep' },
  daily_activity: { feed: 'activity', path: 'daily_activity' },
  workout: { feed: 'workouts', path: 'workout' },
  daily_spo2: { feed: 'blood_oxygen', path: 'daily_spo2' },
  vo2_max: { feed: 'vo2_max', path: 'vO2_max' },
}

/** Notifications arrive within a minute after the phone synced. Polling finds those that were lost. */
const notified = { windowDays: 30, pollMs: 12 * HOUR, trailingDays: 2, windowOf }

const sleep: Feed = {
  resources: ['sleep', 'sleep_cycle', 'hrv', 'respiratory_rate', 'body_temperature_delta'],
  scopes: ['daily'],
  ...notified,
  async *pull(call, window, { now }) {
    const scores = new Map((await api.listAll(call, 'daily_sleep', api.DailySleep, window)).map((daily) => [daily.day, daily]))
    for await (const page of api.list(call, 'sleep', api.Sleep, window)) {
      const sleeps = mapped(call, 'sleep', page.filter(map.isSleep), (sleep) => map.sleepOf(sleep, scores.get(sleep.day)))
      yield {
        summaries: [{ resource: 'sleep', items: sleeps }],
        sessionSeries: { resource: 'sleep', series: sleepSeries },
        deleted: page.filter(map.isDeleted).map(({ id }) => ({ ...deletedSleep(id), at: now })),
      }
    }
  },
  deletion: ({ kind, object_id }) => (kind === 'sleep' ? deletedSleep(object_id) : undefined),
}

/** They end with a deleted sleep. Heart rates stay, because they were measured whether or not the user slept. */
const sleepSeries: SeriesName[] = ['hypnogram', 'hrv', 'respiratory_rate', 'body_temperature_delta']

const deletedSleep = (id: string) => ({ resource: 'sleep' as const, id, series: sleepSeries })

const activity: Feed = {
  resources: ['activity'],
  scopes: ['daily'],
  ...notified,
  async *pull(call, window) {
    const days = await api.listAll(call, 'daily_activity', api.DailyActivity, window)
    yield { summaries: [{ resource: 'activity', items: days.map(map.activityOf) }], complete: { days: ['activity'], window } }
  },
}

const workouts: Feed = {
  resources: ['workouts'],
  scopes: ['workout'],
  ...notified,
  async *pull(call, window, { granted }) {
    for await (const page of api.list(call, 'workout', api.Workout, window)) {
      const items: ReturnType<typeof map.workoutOf>[] = []
      for (const workout of page) {
        const beats = granted('heartrate') ? await beatsDuring(call, workout) : []
        items.push(...mapped(call, 'workout', [workout], (workout) => map.workoutOf(workout, beats)))
      }
      yield { summaries: [{ resource: 'workouts', items }] }
    }
  },
  deletion: ({ object_id: id }) => ({ resource: 'workouts', id, series: [] }),
}

/** None for a workout that cannot be stored. */
const beatsDuring = async (call: Call, { start_datetime: from, end_datetime: to }: api.Workout) =>
  isSession(Date.parse(from), Date.parse(to)) ? allItems(api.listHeartRate(call, { from, to })) : []

/** Oura sends no notifications about heart rates. */
const heartrate: Feed = {
  resources: ['heartrate'],
  scopes: ['heartrate'],
  windowDays: 30,
  pollMs: HOUR,
  trailingDays: 2,
  async *pull(call, window) {
    for await (const page of api.listHeartRate(call, window)) yield { samples: [{ name: 'heartrate', items: map.heartRatesOf(page) }] }
  },
}

const bloodOxygen: Feed = {
  resources: ['blood_oxygen'],
  scopes: ['spo2', 'daily'],
  ...notified,
  async *pull(call, window) {
    const sleeps = await api.listAll(call, 'sleep', api.Sleep, window)
    const days = await api.listAll(call, 'daily_spo2', api.DailySpo2, window)
    yield { samples: [{ name: 'blood_oxygen', items: map.oxygenOf(days, sleeps) }], complete: { series: ['blood_oxygen'], window } }
  },
}

const vo2Max: Feed = {
  resources: ['vo2_max'],
  scopes: ['heart_health'],
  ...notified,
  async *pull(call, window) {
    const found = await api.listAll(call, 'vO2_max', api.Vo2Max, window)
    yield { samples: [{ name: 'vo2_max', items: found.flatMap(map.vo2MaxOf) }], complete: { series: ['vo2_max'], window } }
  },
}

const profile: Feed = {
  resources: ['profile', 'body', 'weight'],
  scopes: ['personal'],
  ...undated,
  pollMs: DAY,
  async *pull(call, _, context) {
    const info = await api.getPersonalInfo(call)
    if (info) yield await profileRecords(map.profileOf(info), context)
  },
}

/** Objects of a day. Their deletion does not name the day, so the days of the history are compared. */
const daily = ['daily_activity', 'daily_spo2', 'vo2_max']
const HISTORY_MS = 90 * DAY

/** The list endpoints take days, so the window of an object is its day. */
async function windowOf(call: Call, { kind, object_id, deleted, at }: Change): Promise<Window | 'deleted' | 'unreadable'> {
  const row = kinds[kind]
  if (deleted && daily.includes(kind)) return { from: later(at, -HISTORY_MS), to: at }
  if (!row) return 'deleted'
  try {
    const object = await api.getObject(call, row.path, object_id)
    if (!object) return 'unreadable'
    if (deleted && !isLater(object.meta?.updated_at, at)) return 'deleted'
    const noon = `${object.day}T12:00:00.000Z`
    return { from: noon, to: noon }
  } catch (error) {
    if (isCloudError(error) && error.fault === 'not_found') return 'deleted'
    throw error
  }
}

const eventTypes = ['create', 'update', 'delete']
const RENEW_BEFORE_MS = 7 * DAY
const CALLBACK_PATH = '/providers/oura/webhook/'

type Subscription = Parameters<NonNullable<Cloud['subscribe']>>[1]

/** The application can have one subscription for each kind of object and event. One with an earlier URL of Assay is replaced. */
async function subscribe(call: Call, { callback_url, verification_token, client, wanted, now }: Subscription) {
  const existing = await api.listSubscriptions(call, client)
  const ours = existing.filter((one) => one.callback_url === callback_url)
  const outdated = wanted ? existing.filter((one) => !ours.includes(one) && one.callback_url.includes(CALLBACK_PATH)) : ours
  for (const { id } of outdated) await api.deleteSubscription(call, client, id)
  if (!wanted) return
  for (const data_type of Object.keys(kinds))
    for (const event_type of eventTypes) {
      const found = ours.find((one) => one.data_type === data_type && one.event_type === event_type)
      if (!found) await api.createSubscription(call, client, { callback_url, verification_token, event_type, data_type })
      else if (!(Date.parse(found.expiration_time) > Date.parse(later(now, RENEW_BEFORE_MS))))
        await api.renewSubscription(call, client, found.id)
    }
}

const receive: NonNullable<Cloud['receive']> = ({ method, query, headers, body }, { client_secret, verification_token }) => {
  if (method === 'GET') {
    const { verification_token: sent = '', challenge } = query
    return challenge && isSameText(sent, verification_token) ? { body: { challenge: challenge.slice(0, 1000) }, changes: [] } : undefined
  }
  // The cloud retries for an hour with the same timestamp, so its age is not checked. A repeated message changes nothing.
  const signed = Buffer.concat([Buffer.from(headers['x-oura-timestamp'] ?? ''), body])
  const signature = createHmac('sha256', client_secret).update(signed).digest('hex').toUpperCase()
  if (!isSameText(headers['x-oura-signature'] ?? '', signature)) return undefined
  const { data: event } = api.Notification.safeParse(parseJson(body))
  const row = event && kinds[event.data_type]
  if (!row) return { changes: [] }
  const at = new Date(Number.isNaN(Date.parse(event.event_time)) ? 0 : event.event_time).toISOString()
  const change = { kind: event.data_type, object_id: event.object_id, deleted: event.event_type === 'delete', at }
  return { changes: [{ account: event.user_id, feed: row.feed, ...change }] }
}

export const oura: Cloud = {
  api_url: 'https://api.ouraring.com',
  // Some accounts report granted scopes with a prefix, and older documents spell one of them differently.
  tokens: { scopeOf: (name) => name.replace(/^extapi:/, '').replace(/^spo2Daily$/, 'spo2') },
  identify: api.getAccount,
  subscribe,
  receive,
  feeds: { sleep, activity, workouts, heartrate, blood_oxygen: bloodOxygen, vo2_max: vo2Max, profile },
  async disconnect(call, { tokens: { access_token, refresh_token } }) {
    const authorization = `Bearer ${refresh_token ?? access_token}`
    // A token that is not valid anymore is revoked already.
    await call({ method: 'POST', path: '/oauth/revoke', headers: { authorization } }, z.unknown()).catch((error) => {
      if (!isCloudError(error) || error.fault !== 'unauthorized') throw error
    })
  },
}
