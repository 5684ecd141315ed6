import type { Behavior, Response } from './server.ts'

/** The lists of records in the responses of all clouds. */
const lists = ['data', 'records', 'dataPoints', 'rollupDataPoints', 'measuregrps', 'activities', 'series']

type Oddities = Pick<Behavior, 'odd_records' | 'absent_numbers'>

/** A page with records that are not as documented, beside those that it has. */
export function withOddities(response: Response, oddities: Oddities): Response {
  if (!oddities.odd_records && !oddities.absent_numbers) return response
  return { ...response, body: changed(response.body, oddities) as object }
}

/** Withings has its lists in an envelope. */
function changed(body: unknown, oddities: Oddities): unknown {
  if (!isObject(body)) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (Array.isArray(value) && lists.includes(name)) return [name, oddPage(value, oddities)]
      return [name, name === 'body' ? changed(value, oddities) : value]
    }),
  )
}

function oddPage(records: unknown[], { odd_records, absent_numbers }: Oddities) {
  const [first, ...others] = records
  const shown = absent_numbers && records.length ? [withoutNumbers(first), ...others] : records
  return [...shown, ...Array.from({ length: odd_records }, (_, i) => oddKinds[i % oddKinds.length]?.(first))]
}

/** What a record can be instead of an object with the documented fields. */
const oddKinds: ((record: unknown) => unknown)[] = [
  () => null,
  () => 'record',
  () => ({}),
  (record) => (isObject(record) ? Object.fromEntries(Object.keys(record).map((name) => [name, { unexpected: true }])) : []),
  () => [],
]

/** Numbers that name a record or say how to read it. */
const KEPT = /date|time|year|month|day|hour|minute|second|^(id|grpid|type|unit|attrib|category|state|interval|cycle_id|user_id|model)$/i

/** Protocol Buffers write an absent double as text. */
function withoutNumbers(value: unknown, name = ''): unknown {
  if (typeof value === 'number') return KEPT.test(name) ? value : 'NaN'
  if (Array.isArray(value)) return value.map((one) => withoutNumbers(one, name))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutNumbers(field, name)]))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
