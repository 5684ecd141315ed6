import { z } from 'zod'
import type { Call, Window } from '../cloud.ts'
import { followPages } from '../reading/pages.ts'
import { number, readable, readSingle } from '../reading/records.ts'

const time = z.iso.datetime({ offset: true })

/** The score is there once WHOOP has computed it. */
const scored = <S extends z.ZodRawShape>(score: S) => ({
  updated_at: z.string().nullish(),
  score_state: z.string(),
  score: z.object(score).nullish(),
})

const session = { start: time, end: time, timezone_offset: z.string() }

export const Sleep = z.object({
  id: z.string(),
  cycle_id: number,
  ...session,
  nap: z.boolean(),
  ...scored({
    stage_summary: z
      .object({
        total_awake_time_milli: number,
        total_light_sleep_time_milli: number,
        total_slow_wave_sleep_time_milli: number,
        total_rem_sleep_time_milli: number,
      })
      .nullish(),
    respiratory_rate: number,
    sleep_performance_percentage: number,
    sleep_efficiency_percentage: number,
  }),
})
export type Sleep = z.output<typeof Sleep>

export const Recovery = z.object({
  sleep_id: z.string(),
  ...scored({
    recovery_score: number,
    resting_heart_rate: number,
    hrv_rmssd_milli: number,
    spo2_percentage: number,
    skin_temp_celsius: number,
  }),
})
export type Recovery = z.output<typeof Recovery>

export const Cycle = z.object({
  id: z.number(),
  start: time,
  end: time.nullish(),
  timezone_offset: z.string(),
  ...scored({ kilojoule: number, average_heart_rate: number, max_heart_rate: number }),
})
export type Cycle = z.output<typeof Cycle>

const zones = ['zero', 'one', 'two', 'three', 'four', 'five'] as const
export const zoneNames = zones.map((zone) => `zone_${zone}_milli` as const)

export const Workout = z.object({
  id: z.string(),
  ...session,
  sport_name: z.string().nullish(),
  ...scored({
    average_heart_rate: number,
    max_heart_rate: number,
    kilojoule: number,
    distance_meter: number,
    altitude_gain_meter: number,
    zone_durations: z.object(Object.fromEntries(zoneNames.map((name) => [name, number]))).nullish(),
  }),
})
export type Workout = z.output<typeof Workout>

export const BodyMeasurement = z.object({ height_meter: number, weight_kilogram: number })
export type BodyMeasurement = z.output<typeof BodyMeasurement>

export const Notification = z.object({ user_id: z.union([z.number(), z.string()]), id: z.string(), type: z.string() })

const BASE = '/developer/v2'
const MAX_RECORDS = '25'
const MARGIN_MS = 86_400_000

const Page = z.object({ records: z.array(z.unknown()), next_token: z.string().nullish() })

/** The pages of a list, with a day before and after the window, because the end of a record can lie outside. */
export async function* list<S extends z.ZodType>(call: Call, path: string, shape: S, { from, to }: Window) {
  const [start, end] = [new Date(Date.parse(from) - MARGIN_MS).toISOString(), new Date(Date.parse(to) + MARGIN_MS).toISOString()]
  const load = (nextToken: string | undefined) =>
    call({ path: `${BASE}${path}`, query: { limit: MAX_RECORDS, start, end, nextToken } }, Page)
  for await (const { records } of followPages(load, (page) => page.next_token)) yield readable(call, kindOf(path), shape, records)
}

const kindOf = (path: string) => path.split('/').at(-1) as string

const Dated = z.object({ start: time, end: time, updated_at: z.string().nullish() })

/** When a sleep or a workout took place, and when it changed. */
export const getSession = (call: Call, kind: 'sleep' | 'workout', id: string) =>
  readSingle(call, kind, Dated, `${BASE}/activity/${kind}/${encodeURIComponent(id)}`)

export const getBodyMeasurement = (call: Call) => readSingle(call, 'body', BodyMeasurement, `${BASE}/user/measurement/body`)

export const getUserId = async (call: Call) =>
  String((await call({ path: `${BASE}/user/profile/basic` }, z.object({ user_id: z.union([z.number(), z.string()]) }))).user_id)

/** Ends the access and the notifications of the user. */
export const endAccess = (call: Call) => call({ method: 'DELETE', path: `${BASE}/user/access` }, z.unknown())
