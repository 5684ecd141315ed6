import { MINUTE } from '../../platform/time.ts'
import { isoOf } from '../data/rules-present.ts'
import type { Day } from './rules-day.ts'

/** A pushed sample. */
export type NewSample = {
  value?: number | string
  start_date: string
  end_date?: string
  type?: string
} & Record<string, unknown>

type DayStart = Pick<Day, 'start'>

/** The time of a minute of the day. */
export const timeOf = ({ start }: DayStart, minute: number) => isoOf(start + Math.round(minute * MINUTE))

export const hasPassed = ({ start }: DayStart, minute: number, until: number) => start + minute * MINUTE <= until

/** A sample at a time, or for a period. */
export const point = (day: DayStart, minute: number, value: number | string, extra: object = {}): NewSample => ({
  value,
  start_date: timeOf(day, minute),
  ...extra,
})

export const period = (day: DayStart, from: number, to: number, value: number | string, extra: object = {}): NewSample => ({
  ...{ value, start_date: timeOf(day, from), end_date: timeOf(day, to) },
  ...extra,
})

export const roundTo = (value: number, places = 0) => Math.round(value * 10 ** places) / 10 ** places
