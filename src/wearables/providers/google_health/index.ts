import type { SeriesName } from '../../../contract/wearables/series.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { DAY, HOUR, later } from '../../../platform/time.ts'
import { type Call, type Cloud, cloudError, type Feed, type PullContext, type Records, type Subscription, type Window } from '../cloud.ts'
import { mapped } from '../reading/records.ts'
import * as api from './api.ts'
import * as map from './map.ts'
import { receive } from './receive.ts'
import { serviceToken } from './signature.ts'
import { streamsOf } from './streams.ts'
import { notifiedTypes } from './types.ts'

const scope = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`
const ACTIVITY = scope('activity_and_fitness')
const METRICS = scope('health_metrics_and_measurements')

/** Google sends notifications about some types. Polling finds those that were lost. */
const notified = { windowDays: 30, pollMs: 12 * HOUR, trailingDays: 2 }
const polled = { ...notified, pollMs: HOUR }

const activitySeries = {
  steps: 'steps',
  distance: 'distance',
  'active-energy-burned': 'calories_active',
  floors: 'floors_climbed',
} as const satisfies Partial<Record<api.DataType, SeriesName>>

/** The sums of days have a limit of 14 days. */
const activity: Feed = {
  resources: ['activity', ...Object.values(activitySeries)],
  scopes: [ACTIVITY],
  ...notified,
  windowDays: api.ROLL_UP_DAYS,
  async *pull(call, window, context) {
    yield { summaries: [{ resource: 'activity', items: map.activitiesOf(await readDays(call, window, context)) }] }
    for (const [type, name] of Object.entries(activitySeries) as [keyof typeof activitySeries, SeriesName][])
      yield* stream(call, type, name, window, { family: 'wearables', isComplete: context.stage === 'daily' })
  },
}

async function readDays(call: Call, window: Window, { granted }: PullContext): Promise<map.Days> {
  const hasHeart = granted(METRICS)
  return {
    steps: await api.rollUp(call, 'steps', window),
    distance: await api.rollUp(call, 'distance', window),
    floors: await api.rollUp(call, 'floors', window),
    active: await api.rollUp(call, 'active-energy-burned', window),
    total: await api.rollUp(call, 'total-calories', window),
    minutes: await api.rollUp(call, 'active-minutes', window),
    heart: hasHeart ? await api.rollUp(call, 'heart-rate', window) : [],
    resting: hasHeart ? await api.listAll(call, 'daily-resting-heart-rate', window, { family: 'wearables' }) : [],
  }
}

/** Names a point by its ID or its time. */
const mapPoints = <T extends api.DataType, R>(call: Call, type: T, points: api.Point<T>[], of: (point: api.Point<T>) => R) =>
  mapped(call, type, points, of, ({ id, value }) => ({ id, ...value }))

type StreamOptions = {
  family: api.Family
  /** Whether what is stored beside the points is deleted. */
  isComplete: boolean
}

/**
 * The samples of a type. Google lists points newest first, so each page contains every point of its time span, and new data
 * replaces what is stored there. The points at the end of a page may continue on the next, so a page waits for it.
 */
async function* stream<T extends api.DataType>(
  call: Call,
  type: T,
  name: SeriesName,
  window: Window,
  { family, isComplete }: StreamOptions,
): AsyncGenerator<Records> {
  const samplesOf = map.samplesOf[type] as (point: api.Point<T>) => Record<string, unknown>[]
  let [upper, isOrdered] = [Date.parse(window.to) - 1, isComplete]
  let held: api.Point<T>[] = []
  const records = (points: api.Point<T>[], from: number): Records => ({
    samples: [{ name, items: mapPoints(call, type, points, samplesOf).flat() }],
    ...(isOrdered && from <= upper ? { complete: { series: [name], window: { from: isoOf(from), to: isoOf(upper) } } } : {}),
  })
  for await (const page of api.list(call, type, window, { family })) {
    const [times, last] = [page.map(map.timeOf), held.at(-1)]
    const before = last ? map.timeOf(last) : upper
    isOrdered &&= times.every((time, i) => time <= (times[i - 1] ?? before))
    if (last && page.length) {
      yield records(
        held.filter((point) => map.timeOf(point) !== before),
        before + 1,
      )
      held = held.filter((point) => map.timeOf(point) === before)
      upper = before
    }
    held = [...held, ...page]
  }
  yield records(held, Date.parse(window.from))
}

const isoOf = (at: number) => new Date(at).toISOString()

type SeriesFeed = { type: api.DataType; name: SeriesName; family: api.Family; scopes: string[] }
type Timing = Pick<Feed, 'windowDays' | 'pollMs' | 'trailingDays'>

/** A feed of a type that becomes a series. */
const seriesFeed = ({ type, name, family, scopes }: SeriesFeed, timing: Timing): Feed => ({
  resources: [name],
  scopes,
  ...timing,
  async *pull(call, window, { stage }) {
    yield* stream(call, type, name, window, { family, isComplete: stage === 'daily' })
  },
})

const vitals = (name: SeriesName, type: api.DataType, family: api.Family = 'wearables') => ({
  ...{ name, type, family, scopes: [METRICS] },
})

/** The values of a night are by day, and need another scope. */
const sleep: Feed = {
  resources: ['sleep', 'sleep_cycle', 'body_temperature_delta'],
  scopes: [scope('sleep')],
  ...notified,
  async *pull(call, window, { granted, stage }) {
    const read = <T extends api.DataType>(type: T) =>
      granted(METRICS) ? api.listAll(call, type, window, { family: 'wearables' }) : Promise.resolve<api.Point<T>[]>([])
    const nights = {
      temperature: await read('daily-sleep-temperature-derivations'),
      respiration: await read('daily-respiratory-rate'),
      variability: await read('daily-heart-rate-variability'),
    }
    const sleeps = await api.listAll(call, 'sleep', { from: later(window.from, -DAY), to: later(window.to, DAY) }, { family: 'sources' })
    yield {
      summaries: [{ resource: 'sleep', items: mapPoints(call, 'sleep', sleeps, (sleep) => map.sleepOf(sleep, nights)) }],
      sessionSeries: { resource: 'sleep', series: ['hypnogram', 'body_temperature_delta'] },
      ...sessionsOf('sleep', window, stage),
    }
  },
}

/** New data contains every session of its window. */
const sessionsOf = (resource: SummaryName, window: Window, stage: PullContext['stage']): Pick<Records, 'complete'> =>
  stage === 'daily' ? { complete: { sessions: [resource], window } } : {}

const workouts: Feed = {
  resources: ['workouts', 'workout_stream'],
  scopes: [ACTIVITY],
  ...notified,
  async *pull(call, window, { stage, granted }) {
    const exercises = await api.listAll(call, 'exercise', window, { family: 'sources' })
    const streams = granted(METRICS) ? await streamsOf(call, exercises) : []
    const items = mapPoints(call, 'exercise', exercises, map.workoutOf)
    yield { summaries: [{ resource: 'workouts', items }], streams, ...sessionsOf('workouts', window, stage) }
  },
}

const body: Feed = {
  resources: ['body', 'weight', 'fat'],
  scopes: [METRICS],
  ...notified,
  async *pull(call, window, { stage }) {
    // A day of the user is not a day in UTC, so the days before and after are compared too, and read as a whole.
    const around = { from: later(window.from, -3 * DAY), to: later(window.to, 3 * DAY) }
    const weights = await api.listAll(call, 'weight', around, { family: 'sources' })
    const fats = await api.listAll(call, 'body-fat', around, { family: 'sources' })
    const series: SeriesName[] = ['body_weight', 'body_fat']
    const compared = { from: later(window.from, -DAY), to: later(window.to, DAY) }
    const complete = { series, days: ['body' as const], window: compared }
    yield { summaries: [{ resource: 'body', items: [map.bodyOf(weights, fats)] }], ...(stage === 'daily' ? { complete } : {}) }
  },
}

/** Values of days, of tests and of runs are one series. */
const vo2Max: Feed = {
  resources: ['vo2_max'],
  scopes: [ACTIVITY],
  ...polled,
  async *pull(call, window, { stage }) {
    const read = async <T extends api.DataType>(type: T) =>
      (await api.listAll(call, type, window, { family: 'wearables' })).flatMap(map.samplesOf[type] ?? (() => []))
    const items = [...(await read('daily-vo2-max')), ...(await read('vo2-max')), ...(await read('run-vo2-max'))]
    const complete = { series: ['vo2_max' as const], window: { ...window, to: later(window.to, -1) } }
    yield { samples: [{ name: 'vo2_max', items }], ...(stage === 'daily' ? { complete } : {}) }
  },
}

/** The latest height, without a window. */
const profile: Feed = {
  resources: ['profile'],
  scopes: [METRICS],
  ...{ maxDays: 0, windowDays: 1, pollMs: DAY, trailingDays: 0 },
  async *pull(call) {
    for await (const page of api.list(call, 'height', undefined, { family: 'sources', pageSize: 1 }))
      if (page.length) yield { summaries: [{ resource: 'profile', items: [map.profileOf(page)] }] }
  },
}

/** Recordings can only be listed from a time on. Families do not have them. */
const electrocardiogram: Feed = {
  resources: ['electrocardiogram', 'electrocardiogram_voltage'],
  scopes: [scope('ecg')],
  ...polled,
  async *pull(call, window, { stage }) {
    const type = 'electrocardiogram'
    const found = await api.listAll(call, type, window, {})
    const readings = found.filter((point) => map.timeOf(point) < Date.parse(window.to))
    yield {
      summaries: [{ resource: 'electrocardiogram', items: mapPoints(call, type, readings, map.electrocardiogramOf) }],
      samples: [{ name: 'electrocardiogram_voltage', items: mapPoints(call, type, readings, map.voltagesOf).flat() }],
      sessionSeries: { resource: 'electrocardiogram', series: ['electrocardiogram_voltage'] },
      ...sessionsOf('electrocardiogram', window, stage),
    }
  },
}

const CALLBACK_PATH = '/providers/google_health/webhook/'

/** The project can have several subscribers. One with an earlier URL of Assay, or that is not active, is replaced. */
async function subscribe(call: Call, { callback_url, verification_token, client, wanted, now }: Subscription) {
  const account = client.service_account
  if (!account) throw cloudError('refused', 'notifications need a service account')
  const by = { project: account.project_id, authorization: `Bearer ${serviceToken(account, now)}` }
  const existing = (await api.listSubscribers(call, by)).filter(({ endpointUri }) => endpointUri?.includes(CALLBACK_PATH))
  const current = existing.find(
    ({ endpointUri, state, subscriberConfigs: configs }) =>
      endpointUri === callback_url &&
      state === 'ACTIVE' &&
      notifiedTypes.every((type) => configs?.some(({ dataTypes }) => dataTypes?.includes(type))),
  )
  const outdated = existing.filter((one) => (wanted ? one !== current : one.endpointUri === callback_url))
  for (const { name } of outdated) await api.deleteSubscriber(call, by, name)
  if (wanted && !current)
    await api.createSubscriber(call, by, { endpointUri: callback_url, secret: `Bearer ${verification_token}`, dataTypes: notifiedTypes })
}

export const googleHealth: Cloud = {
  api_url: 'https://health.googleapis.com',
  identify: async (call) => (await api.getIdentity(call)).healthUserId,
  subscribe,
  receive,
  feeds: {
    activity,
    sleep,
    workouts,
    body,
    profile,
    electrocardiogram,
    heartrate: seriesFeed(vitals('heartrate', 'heart-rate'), { ...notified, windowDays: 7 }),
    hrv: seriesFeed(vitals('hrv', 'heart-rate-variability'), notified),
    blood_oxygen: seriesFeed(vitals('blood_oxygen', 'oxygen-saturation'), polled),
    respiratory_rate: seriesFeed(vitals('respiratory_rate', 'respiratory-rate-sleep-summary'), notified),
    glucose: seriesFeed(vitals('glucose', 'blood-glucose', 'sources'), notified),
    body_temperature: seriesFeed(vitals('body_temperature', 'core-body-temperature', 'sources'), polled),
    vo2_max: vo2Max,
  },
}
