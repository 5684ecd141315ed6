import type { SkippedRecord } from '../../../contract/wearables/source-status.ts'
import { DAY, later } from '../../../platform/time.ts'

/** The most skipped records that a feed lists. Counters include all of them. */
export const MAX_SKIPPED = 100
const FORGET_AFTER_MS = 30 * DAY

export type FoundRecord = Pick<SkippedRecord, 'record' | 'reason' | 'field'>

/** The skipped records of a feed after a read: those that it found, and earlier ones that it did not read. */
export function nextSkipped(before: SkippedRecord[], found: Map<string, FoundRecord>, read: Set<string>, now: string): SkippedRecord[] {
  const since = new Map(before.map((one) => [one.key, one.since]))
  const kept = before.filter(({ key, seen_at }) => !found.has(key) && !read.has(key) && seen_at > later(now, -FORGET_AFTER_MS))
  const seen = [...found].map(([key, one]) => ({ key, ...one, since: since.get(key) ?? now, seen_at: now }))
  return [...seen, ...kept].slice(0, MAX_SKIPPED)
}

/** Counts skipped records by kind, reason and field. */
export function groupSkipped(skipped: SkippedRecord[]) {
  const groups = Map.groupBy(skipped, ({ record, reason, field }) => `${record} ${reason} ${field}`)
  return [...groups.values()].map((group) => {
    const { record, reason, field } = group[0] as SkippedRecord
    const [since, last_seen_at] = [
      group.map((one) => one.since).sort()[0],
      group
        .map((one) => one.seen_at)
        .sort()
        .at(-1),
    ]
    return { record, reason, field, count: group.length, since: since as string, last_seen_at: last_seen_at as string }
  })
}

const ids = ['id', 'grpid', 'recordId', 'sleep_id', 'dataPointName', 'name']
const times = [
  ...['date', 'year', 'month', 'day', 'day_summary', 'start', 'start_date', 'startdate', 'second', 'timestamp', 'systemTime'],
  ...['interval', 'sampleTime', 'civilStartTime', 'startTime', 'physicalTime'],
]

/** Identifies a record even if the rest of it changes: by its ID, or by its time. */
export function identityOf(kind: string, record: unknown) {
  const named = typeof record === 'object' && record !== null ? ids.map((id) => (record as Record<string, unknown>)[id]) : []
  const id = named.find((value) => typeof value === 'number' || (typeof value === 'string' && value))
  return id === undefined ? (JSON.stringify(record, [...times, kind]) ?? '') : String(id)
}
