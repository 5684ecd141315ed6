import { z } from 'zod'
import type { Call, Window } from '../cloud.ts'
import { number, readable } from '../reading/records.ts'

const text = z.string().nullish()

/** `systemTime` is UTC, and `displayTime` is what the user saw. Both may lack seconds or an offset. */
const times = { systemTime: z.string(), displayTime: text }

export const Egv = z.object({ recordId: text, ...times, value: number, unit: text, status: text })
export type Egv = z.output<typeof Egv>

/** The value is a number as text, and the text of a note. */
export const Event = z.object({
  recordId: text,
  ...times,
  eventType: text,
  eventSubType: text,
  eventStatus: text,
  value: z.union([z.string(), z.number().transform(String)]).nullish(),
  unit: text,
})
export type Event = z.output<typeof Event>

const Span = z.object({ start: z.object(times), end: z.object(times) }).nullish()

const DataRange = z.object({ recordType: z.literal('dataRange'), userId: z.string().min(1).max(200), egvs: Span, events: Span })

/** When there are records. With the time of the last read, only of those that are new since. */
export const getDataRange = (call: Call, lastSyncTime?: string) =>
  call({ path: '/v3/users/self/dataRange', query: { lastSyncTime: lastSyncTime?.replace(/\.\d+Z$/, 'Z') } }, DataRange)

/** The list has no pages. */
async function list<S extends z.ZodType>(call: Call, name: string, recordType: string, shape: S, window: Window) {
  const Page = z.object({ recordType: z.literal(recordType), records: z.array(z.unknown()) })
  const { records } = await call({ path: `/v3/users/self/${name}`, query: queryOf(window) }, Page)
  return readable(call, recordType, shape, records)
}

/** The estimated glucose values of a window. */
export const listEgvs = (call: Call, window: Window) => list(call, 'egvs', 'egv', Egv, window)

export const listEvents = (call: Call, window: Window) => list(call, 'events', 'event', Event, window)

/** Times in UTC, without an offset. */
const queryOf = ({ from, to }: Window) => ({ startDate: secondsOf(from), endDate: secondsOf(to) })

const secondsOf = (instant: string) => new Date(instant).toISOString().slice(0, 19)
