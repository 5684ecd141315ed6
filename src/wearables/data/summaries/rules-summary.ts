import { createHash } from 'node:crypto'
import { type Fault, faultsOf } from '../../../contract/faults.ts'
import { type EmbeddedSeries, embeddedSeries, type newSummaries } from '../../../contract/wearables/new-summaries.ts'
import { type SeriesName, series } from '../../../contract/wearables/series.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { Problem } from '../../../platform/problem.ts'
import { DAY } from '../../../platform/time.ts'
import { MAX_SESSION_MS, parseInstant, zoneIn } from '../../time/rules.ts'
import type { IncomingSample } from '../samples/rules-merge.ts'
import { type ParseContext, readSamples } from '../samples/rules-samples.ts'

/** One field of a summary that several pushes fill, with the time of its measurement. */
export type Part = { value: unknown; at: number; version: number | null; raw: unknown }

/** A summary that was pushed and not stored yet. */
export type Draft = {
  resource: SummaryName
  /** Identifies the summary together with its user and source. */
  external: string
  calendar_date: string
  /** The period to compare with the ingestion bounds of the user. Null if they do not apply. */
  period: { from: number; to: number } | null
  version: number | null
  source_type: string
  app_id: string | null
  device: string | null
  fields: Record<string, unknown>
  raw: unknown
  /** Set if each field has its own version. */
  parts?: Record<string, Part>
}

/** The summaries and samples of one pushed item. */
export type BuiltItem = { drafts: Draft[]; samples: { name: SeriesName; field: string; samples: IncomingSample[] }[] }

export type BuildContext = {
  now: number
  zoneAt(at: number): number | null
  time_zone: string | null
  version: number | null
  idOf(resource: SummaryName, external: string): string
  /** The samples that are embedded in the item. */
  samples: BuiltItem['samples']
}

/** Reports an invalid field of an item. */
export type ReportFault = (field: string, msg: string) => void

/** User, source and external ID always give one ID, so a summary that is sent again replaces itself. */
export function summaryId(...parts: string[]) {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const variant = '89ab'[Number.parseInt(hash[16] as string, 16) % 4]
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const MAX_ITEMS = 1000
/** The items between two pauses. */
export const ITEMS_PER_STEP = 10
/** One item can produce several summaries, such as one body summary per day. */
export const MAX_SUMMARIES = 5000

export const tooManySummaries = (most: number) =>
  new Problem('invalid', [
    { type: 'too_big', loc: ['body', 'data'], msg: `Send at most ${most.toLocaleString('en')} summaries per request.` },
  ])

/** Parses the pushed items by the shape of their resource. */
export function* parseSummaries(shapes: typeof newSummaries, resource: SummaryName, data: unknown) {
  const items = Array.isArray(data) ? data : [data]
  const locOf = (i: number) => (Array.isArray(data) ? ['body', 'data', i] : ['body', 'data'])
  if (items.length > MAX_ITEMS) throw tooManySummaries(MAX_ITEMS)
  const faults: Fault[] = []
  const parsed: { item: object; raw: unknown; loc: Fault['loc'] }[] = []
  for (const [i, raw] of items.entries()) {
    if (i && i % ITEMS_PER_STEP === 0) yield
    const { data: item, error } = shapes[resource].safeParse(raw)
    if (error) faults.push(...faultsOf(error, 'body', raw).map((fault) => ({ ...fault, loc: [...locOf(i), ...fault.loc.slice(1)] })))
    else parsed.push({ item, raw, loc: locOf(i) })
  }
  if (faults.length) throw new Problem('invalid', faults.slice(0, 20))
  return parsed
}

const EARLIEST = Date.parse('1900-01-01T00:00:00Z')

/** Parses a time. Reports an implausible time and returns now, so that the remaining fields are checked too. */
export function parseRecordedAt(text: string, field: string, now: number, reportFault: ReportFault) {
  const at = parseInstant(text)
  if (at >= EARLIEST && at <= now + DAY) return at
  reportFault(field, at > now ? 'Must not be in the future.' : 'Must be 1900-01-01 or later.')
  return now
}

/** Parses the period of a session and its UTC offsets. */
export function sessionOf(
  context: BuildContext,
  reportFault: ReportFault,
  [startField, start]: [string, string],
  [endField, end]: [string, string],
) {
  const from = parseRecordedAt(start, startField, context.now, reportFault)
  const to = parseRecordedAt(end, endField, context.now, reportFault)
  if (to < from) reportFault(endField, `Must not be before ${startField}.`)
  if (to - from > MAX_SESSION_MS) reportFault(endField, 'A session can last at most 7 days.')
  return { from, to, zone: zoneIn(start) ?? context.zoneAt(from), endZone: zoneIn(end) ?? context.zoneAt(to) }
}

type RecordingFields = {
  source_type?: string | null | undefined
  source_bundle?: string | null | undefined
  product_type?: string | null | undefined
  modified_at?: string | null | undefined
}

export function recorderOf(item: RecordingFields, { now, version }: BuildContext, reportFault: ReportFault) {
  const { source_type, source_bundle, product_type, modified_at } = item
  return {
    source_type: source_type ?? 'unknown',
    app_id: source_bundle ?? null,
    device: product_type ?? null,
    version: modified_at ? parseRecordedAt(modified_at, 'modified_at', now, reportFault) : version,
  }
}

/** Parses the samples that are embedded in an item. */
export function* readEmbeddedSamples(item: object, context: ParseContext) {
  const found: BuiltItem['samples'] = []
  for (const [field, data] of Object.entries(item)) {
    if (!Object.hasOwn(embeddedSeries, field) || !Array.isArray(data)) continue
    const name: SeriesName = embeddedSeries[field as EmbeddedSeries]
    const samples = yield* readSamples(series[name], data, { ...context, loc: [...context.loc, field] })
    found.push({ name, field, samples })
  }
  return found
}

export const roundOrNull = (value: number | null | undefined) => (value === null || value === undefined ? null : Math.round(value))
