import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Call, ClientCredentials, Fault, Window } from '../cloud.ts'
import { followPages } from '../reading/pages.ts'
import { number, readable } from '../reading/records.ts'
import { daysAround } from '../rules-clock.ts'

const text = z.string().nullish()
/** Seconds since 1970. */
const MAX_SECONDS = 1e11
const epoch = z.number().min(0).max(MAX_SECONDS)

const MeasureGroup = z.object({
  grpid: z.number(),
  attrib: z.number(),
  date: epoch,
  modified: epoch.nullish(),
  measures: z.array(z.object({ value: number, type: z.number(), unit: z.number() })),
})
export type MeasureGroup = z.output<typeof MeasureGroup>

const Activity = z.object({
  date: z.string(),
  timezone: text,
  steps: number,
  distance: number,
  elevation: number,
  soft: number,
  moderate: number,
  intense: number,
  calories: number,
  totalcalories: number,
  hr_average: number,
  hr_min: number,
  hr_max: number,
  brand: number,
  is_tracker: z.boolean().nullish(),
  modified: epoch.nullish(),
})
export type Activity = z.output<typeof Activity>

/** The measurements of an interval that begins at a second since 1970. */
const Intraday = z.object({
  steps: number,
  elevation: number,
  calories: number,
  distance: number,
  duration: number,
  heart_rate: number,
  spo2_auto: number,
  rmssd: number,
  core_body_temperature: number,
  rr: number,
})
export type Intraday = z.output<typeof Intraday>

const Workout = z.object({
  id: z.union([z.number(), z.string()]),
  category: z.number(),
  timezone: text,
  startdate: epoch,
  enddate: epoch,
  modified: epoch.nullish(),
  data: z
    .object({
      calories: number,
      manual_calories: number,
      distance: number,
      manual_distance: number,
      hr_average: number,
      hr_max: number,
      pause_duration: number,
      steps: number,
    })
    .nullish(),
})
export type Workout = z.output<typeof Workout>

const Night = z.object({
  id: z.union([z.number(), z.string()]),
  timezone: text,
  model: number,
  startdate: epoch,
  enddate: epoch,
  modified: epoch.nullish(),
  completed: z.boolean().nullish(),
  data: z
    .object({
      total_sleep_time: number,
      asleepduration: number,
      lightsleepduration: number,
      deepsleepduration: number,
      remsleepduration: number,
      wakeupduration: number,
      waso: number,
      rmssd_start_avg: number,
      rmssd_end_avg: number,
      apnea_hypopnea_index: number,
      breathing_disturbances_intensity: number,
      snoring: number,
      snoringepisodecount: number,
      sleep_latency: number,
      sleep_efficiency: number,
      hr_average: number,
      hr_min: number,
      hr_max: number,
      rr_average: number,
      sleep_score: number,
    })
    .nullish(),
})
export type Night = z.output<typeof Night>

/** Values by the second since 1970. */
const bySecond = z.record(z.string().regex(/^\d{1,11}$/), number).nullish()

const Phase = z.object({ startdate: epoch, enddate: epoch, state: z.number(), hr: bySecond, rr: bySecond, rmssd: bySecond })
export type Phase = z.output<typeof Phase>

const paging = { more: z.union([z.boolean(), z.number()]).nullish(), offset: z.number().nullish() }

/** What to list: a window, or everything that changed since a time. */
export type Range = { window: Window; changedSince: string | undefined }

const seconds = (instant: string) => String(Math.floor(Date.parse(instant) / 1000))

/** Errors have the HTTP status 200 too, so `status` decides. */
async function post<S extends z.ZodObject>(call: Call, path: string, form: Record<string, string>, shape: S): Promise<z.output<S>> {
  const response = await call({ method: 'POST', path, form }, z.object({ body: shape }))
  return (response as { body: z.output<S> }).body
}

type List<S> = { path: string; form: Record<string, string>; field: string; kind: string; shape: S }

/** The pages of a list, whose records are in a field. Only measures have one time zone per page. */
async function* pages<S extends z.ZodType>(call: Call, { path, form, field, kind, shape }: List<S>) {
  const Page = z.object({ [field]: z.array(z.unknown()) }).extend({ timezone: text, ...paging })
  const load = (offset: string | undefined) => post(call, path, { ...form, ...(offset ? { offset } : {}) }, Page)
  // The field of the records has a computed name, so its type stands for all fields.
  for await (const page of followPages(load, ({ more, offset }) => (more ? String(offset) : undefined)))
    yield { timezone: page.timezone as string | null | undefined, records: readable(call, kind, shape, page[field] as unknown[]) }
}

const times = ({ window, changedSince }: Range): Record<string, string> =>
  changedSince ? { lastupdate: seconds(changedSince) } : { startdate: seconds(window.from), enddate: seconds(window.to) }

function days({ window, changedSince }: Range): Record<string, string> {
  if (changedSince) return { lastupdate: seconds(changedSince) }
  const { first, last } = daysAround(window)
  return { startdateymd: first, enddateymd: last }
}

/** The types of measures that Assay stores. */
const measureTypes = [1, 4, 5, 6, 8, 9, 10, 11, 12, 54, 71, 73, 76, 77, 88, 123, 170]

export const listMeasures = (call: Call, range: Range) =>
  pages(call, {
    path: '/measure',
    form: { action: 'getmeas', meastypes: measureTypes.join(','), category: '1', ...times(range) },
    ...{ field: 'measuregrps', kind: 'measure', shape: MeasureGroup },
  })

const fieldsOf = (shape: z.ZodObject) => Object.keys(shape.shape).join(',')

const activityFields = 'steps,distance,elevation,soft,moderate,intense,active,calories,totalcalories,hr_average,hr_min,hr_max'

export const listActivities = (call: Call, range: Range) =>
  pages(call, {
    path: '/v2/measure',
    form: { action: 'getactivity', data_fields: activityFields, ...days(range) },
    ...{ field: 'activities', kind: 'activity', shape: Activity },
  })

/** Only the first 24 hours of a window are answered. A day without measurements has a list instead of an object. */
export async function getIntraday(call: Call, { from, to }: Window) {
  const form = { action: 'getintradayactivity', startdate: seconds(from), enddate: seconds(to), data_fields: fieldsOf(Intraday) }
  const series = z.union([z.record(z.string().regex(/^\d{1,11}$/), z.unknown()), z.array(z.unknown())])
  const { series: found } = await post(call, '/v2/measure', form, z.object({ series }))
  const rows = Array.isArray(found) ? found : Object.entries(found).map(([second, row]) => ({ second: Number(second), row }))
  return readable(call, 'intraday', z.object({ second: z.number(), row: Intraday }), rows)
}

const workoutFields = 'calories,intensity,manual_distance,manual_calories,hr_average,hr_min,hr_max,pause_duration,steps,distance'

export const listWorkouts = (call: Call, range: Range) =>
  pages(call, {
    path: '/v2/measure',
    form: { action: 'getworkouts', data_fields: workoutFields, ...days(range) },
    ...{ field: 'series', kind: 'workout', shape: Workout },
  })

const nightFields = [
  ...['total_timeinbed', 'total_sleep_time', 'asleepduration', 'lightsleepduration', 'deepsleepduration', 'remsleepduration'],
  ...['wakeupduration', 'waso', 'sleep_latency', 'sleep_efficiency', 'hr_average', 'hr_min', 'hr_max', 'rr_average', 'sleep_score'],
  ...['rmssd_start_avg', 'rmssd_end_avg', 'apnea_hypopnea_index', 'breathing_disturbances_intensity', 'snoring', 'snoringepisodecount'],
].join(',')

export const listNights = (call: Call, range: Range) =>
  pages(call, {
    path: '/v2/sleep',
    form: { action: 'getsummary', data_fields: nightFields, ...days(range) },
    ...{ field: 'series', kind: 'sleep', shape: Night },
  })

/** The phases of one night, because the documents disagree about longer periods. */
export async function getPhases(call: Call, { startdate, enddate }: Night) {
  const form = { action: 'get', startdate: String(startdate), enddate: String(enddate), data_fields: 'hr,rr,rmssd' }
  return readable(call, 'phase', Phase, (await post(call, '/v2/sleep', form, z.object({ series: z.array(z.unknown()) }))).series)
}

const Subscriptions = z.object({ profiles: z.array(z.object({ appli: z.number(), callbackurl: z.string() })).nullish() })

/** The notifications of the user. */
export const listSubscriptions = async (call: Call) => (await post(call, '/notify', { action: 'list' }, Subscriptions)).profiles ?? []

type Subscription = { callbackurl: string; appli: number }

export const subscribe = (call: Call, { callbackurl, appli }: Subscription) =>
  command(call, '/notify', { action: 'subscribe', callbackurl, appli: String(appli), comment: 'Assay' })

export const unsubscribe = (call: Call, { callbackurl, appli }: Subscription) =>
  command(call, '/notify', { action: 'revoke', callbackurl, appli: String(appli) })

const command = (call: Call, path: string, form: Record<string, string>) => call({ method: 'POST', path, form }, z.unknown())

/** Ends the access of a user. The request is signed instead of having the client secret. */
export async function revoke(call: Call, { client_id, client_secret }: ClientCredentials, userid: string, now: string) {
  const timestamp = seconds(now)
  const signature = (...values: string[]) => createHmac('sha256', client_secret).update(values.join(',')).digest('hex')
  const first = { action: 'getnonce', client_id, timestamp, signature: signature('getnonce', client_id, timestamp) }
  const { nonce } = await post(call, '/v2/signature', first, z.object({ nonce: z.string() }))
  await command(call, '/v2/oauth2', { action: 'revoke', client_id, nonce, signature: signature('revoke', client_id, nonce), userid })
}

const authenticationFailed = [100, 101, 102, 200, 401]
const notAllowed = [214, 277, 2553, 2555]
const TIMED_OUT = 522
export const TOO_MANY = 601

const isWithin = (status: number, ...ranges: [number, number][]) => ranges.some(([least, most]) => status >= least && status <= most)

/** The meaning of `status` in a response. Undefined for success. */
export function faultOfStatus(status: number): Fault | undefined {
  if (status === 0) return undefined
  if (authenticationFailed.includes(status)) return 'unauthorized'
  if (notAllowed.includes(status)) return 'forbidden'
  if (status === TOO_MANY) return 'rate_limited'
  if (status === TIMED_OUT) return 'unavailable'
  if (isWithin(status, [201, 276], [501, 511], [523, 532], [2554, 2554])) return 'refused'
  return 'unavailable'
}

/** The status in a response, if it has one. */
export function statusIn(response: unknown) {
  const { data } = z.object({ status: z.number() }).safeParse(response)
  return data?.status
}
