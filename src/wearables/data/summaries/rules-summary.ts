import { createHash } from 'node:crypto'
import { type Fault, faultsOf } from '../../../contract/faults.ts'
import { type EmbeddedSeries, embeddedSeries, newSummaries } from '../../../contract/wearables/new-summaries.ts'
import type { SeriesName } from '../../../contract/wearables/series.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { Problem } from '../../../platform/problem.ts'
import { momentOf, zoneIn } from '../rules-time.ts'
import type { Incoming } from '../samples/rules-merge.ts'

/** One field of a summary that is put together from several pushes, and when it was measured. */
export type Part = { value: unknown; at: number; version: number | null; raw: unknown }

/** A summary on its way in. */
export type Draft = {
  resource: SummaryName
  /** What makes it this one, beside its user and source. */
  external: string
  calendar_date: string
  /** The moments it is about, which the user's ingestion bounds are held against; null where they do not apply. */
  about: { from: number; to: number } | null
  version: number | null
  source_type: string
  app_id: string | null
  device: string | null
  fields: Record<string, unknown>
  raw: unknown
  /** Set where each field has a version of its own. */
  parts?: Record<string, Part>
}

/** What one item of a push comes to. */
export type Made = { drafts: Draft[]; samples: { name: SeriesName; field: string; samples: Incoming[] }[] }

export type Making = {
  now: number
  zoneAt(at: number): number | null
  time_zone: string | null
  version: number | null
  idOf(resource: SummaryName, external: string): string
  /** Checks the samples that came along in a field. */
  read(name: SeriesName, field: string, data: unknown[]): Incoming[]
}

/** A fault of an item, by its field. */
export type Refuse = (field: string, msg: string) => void

/** The same user, source and thing always has the same id, so that what is sent again replaces. */
export function summaryId(...parts: string[]) {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const variant = '89ab'[Number.parseInt(hash[16] as string, 16) % 4]
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const MOST_ITEMS = 1000
/** An item may come to several summaries, such as a body for each day. */
export const MOST_SUMMARIES = 5000

export const tooMany = (most: number) =>
  new Problem('invalid', [
    { type: 'too_big', loc: ['body', 'data'], msg: `Send at most ${most.toLocaleString('en')} summaries at once; divide them.` },
  ])

/** The items of a push, each of the shape that its resource has. */
export function parseSummaries(resource: SummaryName, data: unknown): { item: unknown; raw: unknown; loc: Fault['loc'] }[] {
  const items = Array.isArray(data) ? data : [data]
  const locOf = (i: number) => (Array.isArray(data) ? ['body', 'data', i] : ['body', 'data'])
  if (items.length > MOST_ITEMS) throw tooMany(MOST_ITEMS)
  const faults: Fault[] = []
  const parsed = items.map((raw, i) => {
    const { data: item, error } = newSummaries[resource].safeParse(raw)
    if (error) faults.push(...faultsOf(error, 'body', raw).map((fault) => ({ ...fault, loc: [...locOf(i), ...fault.loc.slice(1)] })))
    return { item, raw, loc: locOf(i) }
  })
  if (faults.length) throw new Problem('invalid', faults.slice(0, 20))
  return parsed
}

const EARLIEST = Date.parse('1900-01-01T00:00:00Z')
const DAY = 86_400_000

/** A moment that can have been recorded; what is not is refused by its field, and now stands for it until all faults are found. */
export function recordedAt(text: string, field: string, now: number, refuse: Refuse) {
  const at = momentOf(text)
  if (at >= EARLIEST && at <= now + DAY) return at
  refuse(field, at > now ? 'Must not lie in the future.' : 'Must lie in the year 1900 or later.')
  return now
}

/** Beginning and end of a session, and the offset that the user had. */
export function sessionOf(making: Making, refuse: Refuse, [startField, start]: [string, string], [endField, end]: [string, string]) {
  const from = recordedAt(start, startField, making.now, refuse)
  const to = recordedAt(end, endField, making.now, refuse)
  if (to < from) refuse(endField, `Must not lie before ${startField}.`)
  if (to - from > 7 * DAY) refuse(endField, 'A session lasts 7 days at most.')
  return { from, to, zone: zoneIn(start) ?? making.zoneAt(from), endZone: zoneIn(end) ?? making.zoneAt(to) }
}

type Recorded = {
  source_type?: string | null | undefined
  source_bundle?: string | null | undefined
  product_type?: string | null | undefined
  modified_at?: string | null | undefined
}

/** Who recorded it, and which version it is. */
export function recordedBy(item: Recorded, { now, version }: Making, refuse: Refuse) {
  const { source_type, source_bundle, product_type, modified_at } = item
  return {
    source_type: source_type ?? 'unknown',
    app_id: source_bundle ?? null,
    device: product_type ?? null,
    version: modified_at ? recordedAt(modified_at, 'modified_at', now, refuse) : version,
  }
}

/** The samples that came along. */
export const broughtBy = (item: object, { read }: Making) =>
  Object.entries(item).flatMap(([field, data]) => {
    if (!Object.hasOwn(embeddedSeries, field) || !Array.isArray(data)) return []
    const name: SeriesName = embeddedSeries[field as EmbeddedSeries]
    return [{ name, field, samples: read(name, field, data) }]
  })

export const rounded = (value: number | null | undefined) => (value === null || value === undefined ? null : Math.round(value))
