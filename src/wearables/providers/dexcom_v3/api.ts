import { z } from 'zod'
import type { Call, Window } from '../cloud.ts'

const text = z.string().nullish()

/** `systemTime` is UTC, and `displayTime` is what the user saw. Both may lack seconds or an offset. */
const times = { systemTime: z.string(), displayTime: text }

export const Egv = z.object({ recordId: text, ...times, value: z.number().nullish(), unit: text, status: text })
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

const Records = <S extends z.ZodType>(recordType: string, record: S) =>
  z.object({ recordType: z.literal(recordType), records: z.array(record) })

/** The estimated glucose values of a window. The list has no pages. */
export const listEgvs = async (call: Call, window: Window) =>
  (await call({ path: '/v3/users/self/egvs', query: queryOf(window) }, Records('egv', Egv))).records

export const listEvents = async (call: Call, window: Window) =>
  (await call({ path: '/v3/users/self/events', query: queryOf(window) }, Records('event', Event))).records

/** Times in UTC, without an offset. */
const queryOf = ({ from, to }: Window) => ({ startDate: secondsOf(from), endDate: secondsOf(to) })

const secondsOf = (instant: string) => new Date(instant).toISOString().slice(0, 19)
