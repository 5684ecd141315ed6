import { isoOf } from '../../data/rules-present.ts'
import type { Day } from './rules-day.ts'

/** A sample as a source pushes it. */
export type NewSample = {
  value?: number | string
  start_date: string
  end_date?: string
  type?: string
} & Record<string, unknown>

const MINUTE = 60_000

type Start = Pick<Day, 'start'>

/** A minute of a day as a moment. */
export const moment = ({ start }: Start, minute: number) => isoOf(start + Math.round(minute * MINUTE))

/** Whether a minute of a day has passed. */
export const isOver = ({ start }: Start, minute: number, until: number) => start + minute * MINUTE <= until

/** A sample at a moment, or over a stretch of the day. */
export const point = (day: Start, minute: number, value: number | string, more: object = {}): NewSample => ({
  value,
  start_date: moment(day, minute),
  ...more,
})

export const stretch = (day: Start, from: number, to: number, value: number | string, more: object = {}): NewSample => ({
  ...{ value, start_date: moment(day, from), end_date: moment(day, to) },
  ...more,
})

export const rounded = (value: number, places = 0) => Math.round(value * 10 ** places) / 10 ** places
