import type { Day } from './rules-day.ts'

/** A sample as a source pushes it. */
export type NewSample = {
  value?: number | string
  start_date: string
  end_date?: string
  type?: string
} & Record<string, unknown>

const MINUTE = 60_000
const DAY = 86_400_000

type Start = Pick<Day, 'start'>

/** A minute of a day as a moment. */
export const moment = ({ start }: Start, minute: number) => isoOf(start + Math.round(minute * MINUTE))

/** Whether a minute of a day has passed. */
export const isOver = ({ start }: Start, minute: number, until: number) => start + minute * MINUTE <= until

const two = (number: number) => (number < 10 ? `0${number}` : `${number}`)

const clock = Array.from({ length: 1440 }, (_, minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`)

let last = { day: 0, date: '1970-01-01' }

/** As the runtime writes it. A demo has tens of thousands of moments, most of them of the same day as the one before. */
function isoOf(at: number) {
  const day = Math.floor(at / DAY)
  if (day !== last.day) last = { day, date: new Date(at).toISOString().slice(0, 10) }
  const [minutes, rest] = [Math.floor((at % DAY) / MINUTE), at % MINUTE]
  return `${last.date}T${clock[minutes]}:${two(Math.floor(rest / 1000))}.${String(rest % 1000).padStart(3, '0')}Z`
}

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
