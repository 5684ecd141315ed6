import { z } from 'zod'
import type { Call, Window } from '../cloud.ts'
import { allItems, followPages } from '../reading/pages.ts'
import { number, readable, readSingle, Time } from '../reading/records.ts'
import { daysAround } from '../rules-clock.ts'

const meta = z.object({ updated_at: z.string().nullish() }).nullish()

/** Evenly spaced measurements. */
const Measurements = z.object({ interval: z.number(), items: z.array(number), timestamp: z.string() }).nullish()

export const Sleep = z.object({
  id: z.string(),
  day: z.string(),
  type: z.string().nullish(),
  bedtime_start: Time,
  bedtime_end: Time,
  total_sleep_duration: number,
  awake_time: number,
  light_sleep_duration: number,
  deep_sleep_duration: number,
  rem_sleep_duration: number,
  latency: number,
  efficiency: number,
  average_heart_rate: number,
  lowest_heart_rate: number,
  average_hrv: number,
  average_breath: number,
  heart_rate: Measurements,
  hrv: Measurements,
  sleep_phase_5_min: z.string().nullish(),
  sleep_phase_30_sec: z.string().nullish(),
  readiness: z.object({ score: number, temperature_deviation: number }).nullish(),
  meta,
})
export type Sleep = z.output<typeof Sleep>

export const DailySleep = z.object({ id: z.string(), day: z.string(), score: number, meta })
export type DailySleep = z.output<typeof DailySleep>

export const DailyActivity = z.object({
  id: z.string(),
  day: z.string(),
  timestamp: z.string().nullish(),
  steps: number,
  active_calories: number,
  total_calories: number,
  equivalent_walking_distance: number,
  low_activity_time: number,
  medium_activity_time: number,
  high_activity_time: number,
  meta,
})
export type DailyActivity = z.output<typeof DailyActivity>

export const Workout = z.object({
  id: z.string(),
  day: z.string(),
  activity: z.string(),
  calories: number,
  distance: number,
  label: z.string().nullish(),
  start_datetime: Time,
  end_datetime: Time,
})
export type Workout = z.output<typeof Workout>

export const HeartRate = z.object({ timestamp: Time, bpm: number, source: z.string().nullish() })
export type HeartRate = z.output<typeof HeartRate>

export const DailySpo2 = z.object({ id: z.string(), day: z.string(), spo2_percentage: z.object({ average: number }).nullish() })
export type DailySpo2 = z.output<typeof DailySpo2>

export const Vo2Max = z.object({ id: z.string(), day: z.string(), timestamp: Time, vo2_max: number })
export type Vo2Max = z.output<typeof Vo2Max>

export const PersonalInfo = z.object({ id: z.string(), weight: number, height: number, biological_sex: z.string().nullish() })
export type PersonalInfo = z.output<typeof PersonalInfo>

const Subscription = z.object({
  id: z.string(),
  callback_url: z.string(),
  event_type: z.string(),
  data_type: z.string(),
  expiration_time: z.string(),
})

const Page = z.object({ data: z.array(z.unknown()), next_token: z.string().nullish() })

/** The pages of a list. */
export async function* list<S extends z.ZodType>(call: Call, name: string, shape: S, window: Window) {
  const { first, last } = daysAround(window)
  yield* pages(call, name, shape, { start_date: first, end_date: last })
}

export const listAll = <S extends z.ZodType>(call: Call, name: string, shape: S, window: Window) =>
  allItems(list(call, name, shape, window))

export async function* listHeartRate(call: Call, { from, to }: Window) {
  yield* pages(call, 'heartrate', HeartRate, { start_datetime: from, end_datetime: to })
}

async function* pages<S extends z.ZodType>(call: Call, name: string, shape: S, query: Record<string, string>) {
  const load = (next_token: string | undefined) => call({ path: `/v2/usercollection/${name}`, query: { ...query, next_token } }, Page)
  for await (const { data } of followPages(load, (page) => page.next_token)) yield readable(call, name, shape, data)
}

const PERSONAL_INFO = '/v2/usercollection/personal_info'

export const getAccount = async (call: Call) => (await call({ path: PERSONAL_INFO }, z.object({ id: z.string() }))).id

export const getPersonalInfo = (call: Call) => readSingle(call, 'personal_info', PersonalInfo, PERSONAL_INFO)

const Dated = z.object({ day: z.iso.date(), meta })

/** The day of an object, and when it changed. */
export const getObject = (call: Call, name: string, id: string) =>
  readSingle(call, name, Dated, `/v2/usercollection/${name}/${encodeURIComponent(id)}`)

type Credentials = { client_id: string; client_secret: string }

const clientHeaders = ({ client_id, client_secret }: Credentials) => ({ 'x-client-id': client_id, 'x-client-secret': client_secret })

const SUBSCRIPTIONS = '/v2/webhook/subscription'

export const listSubscriptions = (call: Call, client: Credentials) =>
  call({ path: SUBSCRIPTIONS, headers: clientHeaders(client) }, z.array(Subscription))

type NewSubscription = { callback_url: string; verification_token: string; event_type: string; data_type: string }

export const createSubscription = (call: Call, client: Credentials, json: NewSubscription) =>
  call({ method: 'POST', path: SUBSCRIPTIONS, headers: clientHeaders(client), json }, Subscription)

export const renewSubscription = (call: Call, client: Credentials, id: string) =>
  call({ method: 'PUT', path: `${SUBSCRIPTIONS}/renew/${encodeURIComponent(id)}`, headers: clientHeaders(client) }, Subscription)

export const deleteSubscription = (call: Call, client: Credentials, id: string) =>
  call({ method: 'DELETE', path: `${SUBSCRIPTIONS}/${encodeURIComponent(id)}`, headers: clientHeaders(client) }, z.unknown())

/** The body of a notification. */
export const Notification = z.object({
  event_type: z.enum(['create', 'update', 'delete']),
  data_type: z.string(),
  object_id: z.string().min(1).max(200),
  event_time: z.string(),
  user_id: z.string().min(1).max(200),
})
