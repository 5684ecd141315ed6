import { invalid } from '../../platform/problem.ts'
import { DAY } from '../../platform/time.ts'

const DAY_ONLY = /^\d{4}-\d{2}-\d{2}$/

/** Longer than anything that has data. */
export const MAX_RANGE_YEARS = 400

export type Range = { from: number; to: number }

/** The period of a query. A date as the end includes the whole day; without an end the period reaches past now. */
export function rangeOf(start: string, end: string | null | undefined, now: string, part: 'query' | 'body' = 'query'): Range {
  const from = Date.parse(start)
  const to = end ? endOf(end) : Math.max(from, Date.parse(now) + 2 * DAY)
  if (to < from) throw endBeforeStart(part)
  if (part === 'query') checkLength(from, to)
  return { from, to }
}

const endOf = (end: string) => (DAY_ONLY.test(end) ? Date.parse(end) + DAY - 1 : Date.parse(end))

/** The calendar days of a query. */
export function daysOf(from: string, end: string | null | undefined, now: string) {
  const to = end ?? new Date(rangeOf(from, null, now).to).toISOString().slice(0, 10)
  if (to < from) throw endBeforeStart()
  checkLength(Date.parse(from), Date.parse(to))
  return { from, to }
}

function checkLength(from: number, to: number) {
  if (to - from > MAX_RANGE_YEARS * 366 * DAY)
    throw invalid(['query', 'start_date'], `Must be at most ${MAX_RANGE_YEARS} years before end_date. Choose a later start_date.`)
}

const endBeforeStart = (part: 'query' | 'body' = 'query') => invalid([part, 'end_date'], 'Must not be before start_date.')

/** A position in a read: after a day, or after a sample within a day. */
export type Position = { day: string; provider: string; source_type: string; within?: { at: number; type: string } | undefined }

export const cursorOf = ({ day, provider, source_type, within }: Position) =>
  Buffer.from(JSON.stringify([day, provider, source_type, ...(within ? [within.at, within.type] : [])])).toString('base64url')

export function positionOf(cursor: string): Position {
  const parts = partsOf(cursor)
  const [day, provider, source_type, at, type] = parts
  const isPosition = typeof day === 'string' && isDay(day) && typeof provider === 'string' && typeof source_type === 'string'
  const isWithin = parts.length === 3 || (parts.length === 5 && Number.isSafeInteger(at) && typeof type === 'string')
  if (!isPosition || !isWithin) throw invalid(['query', 'next_cursor'], 'Send the next_cursor of the previous page unchanged.')
  return { day, provider, source_type, within: parts.length === 5 ? { at: at as number, type: type as string } : undefined }
}

const isDay = (text: string) => DAY_ONLY.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)

function partsOf(cursor: string): unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) && !JSON.stringify(parts).includes('\\u0000') ? parts : []
  } catch {
    return []
  }
}

const lengths: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY }

/** Parses a downsampling interval. It must divide a day, so that intervals start with the days. */
export function parseInterval(text: string): number {
  const length = Number(text.slice(0, -1)) * (lengths[text.at(-1) as string] as number)
  if (DAY % length !== 0) throw invalid(['query', 'downsample'], 'Must divide a day, such as 1m, 5m, 15m, 1h, 6h or 1d.')
  return length
}
