import { z } from 'zod'
import { DAY } from '../../../platform/time.ts'
import type { Call, CloudRequest, Window } from '../cloud.ts'
import { allItems, followPages } from '../reading/pages.ts'
import { number, readable, Time } from '../reading/records.ts'

const text = z.string().nullish()
/** An int64 is text in JSON. */
const int64 = z.union([
  number,
  z
    .string()
    .regex(/^-?\d{1,18}$/)
    .transform(Number),
])
/** Such as `-18000s`. */
const Duration = z
  .string()
  .regex(/^-?\d{1,12}(\.\d{1,9})?s$/)
  .nullish()

const Interval = z.object({ startTime: Time, startUtcOffset: Duration, endTime: Time, endUtcOffset: Duration })
export type Interval = z.output<typeof Interval>
const SampleTime = z.object({ physicalTime: Time, utcOffset: Duration })
export type SampleTime = z.output<typeof SampleTime>
const CivilDate = z.object({ year: z.int(), month: z.int(), day: z.int() })
export type CivilDate = z.output<typeof CivilDate>

export const DataSource = z.object({
  platform: text,
  recordingMethod: text,
  device: z.object({ displayName: text, formFactor: text, manufacturer: text }).nullish(),
  application: z.object({ packageName: text }).nullish(),
})
export type DataSource = z.output<typeof DataSource>

const interval = <S extends z.ZodRawShape>(fields: S) => z.object({ interval: Interval, ...fields })
const sample = <S extends z.ZodRawShape>(fields: S) => z.object({ sampleTime: SampleTime, ...fields })
const daily = <S extends z.ZodRawShape>(fields: S) => z.object({ date: CivilDate, ...fields })

const Stage = z.object({ startTime: Time, endTime: Time, type: text })

const Sleep = interval({
  type: text,
  stages: z.array(Stage).nullish(),
  summary: z
    .object({
      minutesAsleep: int64,
      minutesAwake: int64,
      minutesToFallAsleep: int64,
      stagesSummary: z.array(z.object({ type: text, minutes: int64 })).nullish(),
    })
    .nullish(),
  metadata: z.object({ mainSleep: z.boolean().nullish(), nap: z.boolean().nullish(), processed: z.boolean().nullish() }).nullish(),
})

const Exercise = interval({
  exerciseType: text,
  displayName: text,
  activeDuration: Duration,
  metricsSummary: z
    .object({
      caloriesKcal: number,
      distanceMillimeters: number,
      steps: int64,
      averageHeartRateBeatsPerMinute: int64,
      averageSpeedMillimetersPerSecond: number,
      elevationGainMillimeters: number,
      heartRateZoneDurations: z
        .object({ lightTime: Duration, moderateTime: Duration, vigorousTime: Duration, peakTime: Duration })
        .nullish(),
    })
    .nullish(),
})

const Electrocardiogram = interval({
  resultClassification: text,
  waveformSamples: z.array(z.number()).nullish(),
  millivoltsScalingFactor: number,
  samplingFrequencyHertz: number,
  beatsPerMinuteAvg: int64,
})

/** The values of each type of data, by the name of the type in paths. */
export const dataTypes = {
  steps: interval({ count: int64 }),
  floors: interval({ count: int64 }),
  distance: interval({ millimeters: int64 }),
  'active-energy-burned': interval({ kcal: number }),
  'heart-rate': sample({ beatsPerMinute: int64 }),
  'heart-rate-variability': sample({ rootMeanSquareOfSuccessiveDifferencesMilliseconds: number }),
  'oxygen-saturation': sample({ percentage: number }),
  weight: sample({ weightGrams: number }),
  height: sample({ heightMillimeters: int64 }),
  'body-fat': sample({ percentage: number }),
  'blood-glucose': sample({ bloodGlucoseMilligramsPerDeciliter: number, measurementSource: text }),
  'core-body-temperature': sample({ temperatureCelsius: number, measurementLocation: text }),
  'respiratory-rate-sleep-summary': sample({ fullSleepStats: z.object({ breathsPerMinute: number }).nullish() }),
  'vo2-max': sample({ vo2Max: number }),
  'run-vo2-max': sample({ runVo2Max: number }),
  'daily-vo2-max': daily({ vo2Max: number }),
  'daily-resting-heart-rate': daily({ beatsPerMinute: int64 }),
  'daily-heart-rate-variability': daily({ averageHeartRateVariabilityMilliseconds: number }),
  'daily-respiratory-rate': daily({ breathsPerMinute: number }),
  'daily-sleep-temperature-derivations': daily({ nightlyTemperatureCelsius: number, baselineTemperatureCelsius: number }),
  sleep: Sleep,
  exercise: Exercise,
  electrocardiogram: Electrocardiogram,
}
export type DataType = keyof typeof dataTypes
export type Value<T extends DataType> = z.output<(typeof dataTypes)[T]>

/** A point of data: the last part of its name, where it has one, where it comes from, and its value. */
export type Point<T extends DataType> = { id: string | undefined; source: DataSource | undefined; value: Value<T> }

const camelCase = (type: string) => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (type: string) => type.replaceAll('-', '_')

/** Trackers measure without a break. The rest can be logged in the app of the tracker or come from a scale. */
const families = { wearables: 'google-wearables', sources: 'google-sources' }
export type Family = keyof typeof families

const familyOf = (family: Family) => `users/me/dataSourceFamilies/${families[family]}`

/** Lists of sleeps and exercises have at most 25 items. A page of others has about 2 MB. */
const PAGE_SIZE = 5000
const pageSizes: Partial<Record<DataType, number>> = { sleep: 25, exercise: 25, electrocardiogram: 25 }

type ListOptions = { family?: Family; pageSize?: number }

/** The pages of a type, newest first. Those of a family are one stream, as the app shows it; without one they come as they are. */
export async function* list<T extends DataType>(call: Call, type: T, window: Window | undefined, { family, pageSize }: ListOptions) {
  const query = {
    ...{ filter: window && filterOf(type, window), pageSize: String(pageSize ?? pageSizes[type] ?? PAGE_SIZE) },
    dataSourceFamily: family && familyOf(family),
  }
  const path = `/v4/users/me/dataTypes/${type}/dataPoints${family ? ':reconcile' : ''}`
  const load = (pageToken: string | undefined) => call({ path, query: { ...query, pageToken } }, Page)
  // Without a window, the first page has the latest.
  for await (const { dataPoints } of followPages(load, (page) => (window ? page.nextPageToken : null)))
    yield readable(call, camelCase(type), PointOf(type), dataPoints ?? [])
}

export const listAll = <T extends DataType>(call: Call, type: T, window: Window, options: ListOptions) =>
  allItems(list(call, type, window, options))

const Page = z.object({ dataPoints: z.array(z.unknown()).nullish(), nextPageToken: text })

/** The value of a point is in the field with the name of its type. */
function PointOf<T extends DataType>(type: T) {
  const field = camelCase(type)
  const Raw = z.looseObject({ name: text, dataPointName: text, dataSource: DataSource.nullish(), [field]: dataTypes[type] })
  return Raw.transform((raw): Point<T> => {
    const { name, dataPointName, dataSource } = raw as { name?: string; dataPointName?: string; dataSource?: DataSource }
    return { id: (dataPointName || name)?.split('/').at(-1), source: dataSource ?? undefined, value: raw[field] as Value<T> }
  })
}

/** Filters compare with `>=` and `<`. Dates include the day before and after, because a day of the user is not a day in UTC. */
function filterOf(type: DataType, { from, to }: Window) {
  const name = snakeCase(type)
  const between = (field: string, start: string, end: string) => `${name}.${field} >= "${start}" AND ${name}.${field} < "${end}"`
  if (type === 'sleep') return between('interval.end_time', from, to)
  if (type === 'electrocardiogram') return `${name}.interval.start_time >= "${from}"`
  if (type === 'exercise') return between('interval.civil_start_time', dayOf(from, -1), dayOf(to, 2))
  if (type.startsWith('daily-')) return between('date', dayOf(from, -1), dayOf(to, 2))
  return between('interval' in dataTypes[type].shape ? 'interval.start_time' : 'sample_time.physical_time', from, to)
}

const dayOf = (instant: string, days: number) => new Date(Date.parse(instant) + days * DAY).toISOString().slice(0, 10)

/** The sums of a day, by type. */
const rollUps = {
  steps: z.object({ countSum: int64 }),
  distance: z.object({ millimetersSum: int64 }),
  floors: z.object({ countSum: int64 }),
  'active-energy-burned': z.object({ kcalSum: number }),
  'total-calories': z.object({ kcalSum: number }),
  'active-minutes': z.object({
    activeMinutesRollupByActivityLevel: z.array(z.object({ activityLevel: text, activeMinutesSum: int64 })).nullish(),
  }),
  'heart-rate': z.object({ beatsPerMinuteAvg: number, beatsPerMinuteMin: number, beatsPerMinuteMax: number }),
}
export type RollUpType = keyof typeof rollUps
export type RollUp<T extends RollUpType> = { date: CivilDate; value: z.output<(typeof rollUps)[T]> }

/** The longest range of roll-ups, with the day before and after. */
export const ROLL_UP_DAYS = 11

/** The sums of the civil days of a window, and of the day before and after. */
export async function rollUp<T extends RollUpType>(call: Call, type: T, { from, to }: Window): Promise<RollUp<T>[]> {
  const field = camelCase(type)
  const Day = z.object({ civilStartTime: z.object({ date: CivilDate }) })
  const Response = z.object({ rollupDataPoints: z.array(z.unknown()).nullish() })
  const range = { start: { date: dateOf(dayOf(from, -1)) }, end: { date: dateOf(dayOf(to, 2)) } }
  const json = { range, windowSizeDays: 1, dataSourceFamily: familyOf('wearables') }
  const path = `/v4/users/me/dataTypes/${type}/dataPoints:dailyRollUp`
  const { rollupDataPoints } = await call({ method: 'POST', path, json }, Response)
  return readable(call, field, Day.extend({ [field]: rollUps[type].nullish() }), rollupDataPoints ?? []).flatMap((point) => {
    const { civilStartTime, [field]: value } = point as z.output<typeof Day> & Record<string, unknown>
    return value ? [{ date: civilStartTime.date, value: value as RollUp<T>['value'] }] : []
  })
}

function dateOf(day: string): CivilDate {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return { year, month, day: date }
}

const Identity = z.object({ healthUserId: z.string().min(1).max(200) })

export const getIdentity = (call: Call) => call({ path: '/v4/users/me/identity' }, Identity)

const Subscriber = z.object({
  name: z.string().regex(/^projects\/[^/?#]+\/subscribers\/[^/?#]+$/),
  endpointUri: text,
  state: text,
  subscriberConfigs: z.array(z.object({ dataTypes: z.array(z.string()).nullish() })).nullish(),
})

type Subscribing = { project: string; authorization: string }

export const listSubscribers = async (call: Call, by: Subscribing) =>
  (await request(call, by, { path: subscribersOf(by) }, z.object({ subscribers: z.array(Subscriber).nullish() }))).subscribers ?? []

type NewSubscriber = { endpointUri: string; secret: string; dataTypes: string[] }

export const createSubscriber = (call: Call, by: Subscribing, { endpointUri, secret, dataTypes }: NewSubscriber) => {
  const subscriberConfigs = [{ dataTypes, subscriptionCreatePolicy: 'AUTOMATIC' }]
  const json = { endpointUri, endpointAuthorization: { secret }, subscriberConfigs }
  return request(call, by, { method: 'POST', path: subscribersOf(by), json }, Operation)
}

export const deleteSubscriber = (call: Call, by: Subscribing, name: string) =>
  request(call, by, { method: 'DELETE', path: `/v4/${name}`, query: { force: 'true' } }, Operation)

/** A failed operation has an error. */
const Operation = z.object({ error: z.undefined().optional() })

const subscribersOf = ({ project }: Subscribing) => `/v4/projects/${encodeURIComponent(project)}/subscribers`

const request = <S extends z.ZodType>(call: Call, { authorization }: Subscribing, request: CloudRequest, shape: S) =>
  call({ ...request, headers: { authorization } }, shape)

const time = z.string().max(40)

/** The body of a notification: one, or a list of them. */
const Notification = z.object({
  data: z.object({
    healthUserId: z.string().min(1).max(200),
    operation: z.enum(['UPSERT', 'DELETE']),
    dataType: z.string().max(100),
    intervals: z.array(z.object({ physicalTimeInterval: z.object({ startTime: time, endTime: time }) })).max(1000),
  }),
})

export const Notifications = z.union([z.array(Notification).max(1000), Notification.transform((one) => [one])])

/** Public keys in the JSON form of Tink. The value is an `EcdsaPublicKey` in the wire format of Protocol Buffers. */
export const KeySet = z.object({
  key: z.array(z.object({ keyId: z.int().min(0), status: text, keyData: z.object({ typeUrl: text, value: z.string() }) })),
})
export type KeySet = z.output<typeof KeySet>
