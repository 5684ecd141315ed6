import { createHash } from 'node:crypto'
import type { DisclosureCount, DisclosureGroup } from '../../contract/delivery/log-rows.ts'
import { invalid } from '../../platform/problem.ts'

/** A message with personal fields that has reached a destination. `receiver` is a host, or a topic. */
export type Disclosure = { destination: string; receiver: string; event_type: string; at: string; fields: string[] }

/** Counts disclosures. Those without personal fields are none. */
export function countAlike(disclosures: Disclosure[]): DisclosureCount[] {
  const counts = new Map<string, DisclosureCount>()
  for (const { at, fields, ...row } of disclosures) {
    if (!fields.length) continue
    const day = at.slice(0, 10)
    const key = JSON.stringify([day, row.destination, row.receiver, row.event_type, fields])
    const count = counts.get(key)
    if (count) count.count += 1
    else counts.set(key, { day, ...row, fields_id: idOf(fields), fields, count: 1 })
  }
  return [...counts.values()]
}

const idOf = (fields: string[]) => createHash('sha256').update(fields.join(' ')).digest('hex').slice(0, 32)

type Alike = { fields: string[]; count: number }

/** The number of messages per field. */
export function countByField(alike: Alike[]) {
  const counts = new Map<string, number>()
  for (const { fields, count } of alike) for (const field of fields) counts.set(field, (counts.get(field) ?? 0) + count)
  return [...counts].map(([field, count]) => ({ field, count })).toSorted((a, b) => (a.field < b.field ? -1 : 1))
}

export const cursorOf = ({ day, destination, receiver, event_type }: DisclosureGroup) =>
  Buffer.from(JSON.stringify([day, destination, receiver, event_type])).toString('base64url')

export function parseCursor(cursor: string | null | undefined): DisclosureGroup | undefined {
  if (!cursor) return undefined
  const [day, destination, receiver, event_type] = partsOf(cursor)
  if (!day || !destination || receiver === undefined || !event_type || !/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day)))
    throw invalid(['query', 'next_cursor'], 'Send the next_cursor of the previous page unchanged.')
  return { day, destination, receiver, event_type }
}

function partsOf(cursor: string): string[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown
    return Array.isArray(parts) ? parts.map(String) : []
  } catch {
    return []
  }
}

/** Disclosures are kept for this many years. */
const KEPT_YEARS = 6

/** The first day that is kept. */
export function firstDay(now: string) {
  const day = new Date(now)
  day.setUTCFullYear(day.getUTCFullYear() - KEPT_YEARS)
  return day.toISOString().slice(0, 10)
}
