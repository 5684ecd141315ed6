import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import { resolveSeriesName, type Series, type SeriesName, series } from '../../../contract/wearables/series.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { longJsonList } from '../../../platform/results/long-list.ts'
import { shaped } from '../../../platform/results/shaped.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { DAY } from '../../../platform/time.ts'
import { requireUser, unwrapUserKey } from '../../../tenants/users/actions.ts'
import { dayOf } from '../../time/rules.ts'
import { presentSource } from '../emit.ts'
import { sourceFilter } from '../incoming-push.ts'
import { groupByOrigin, type PresentedSample, samplePresenter, sampleWriter } from '../rules-present.ts'
import { cursorOf, type Position, parseInterval, positionOf, type Range, rangeOf } from '../rules-window.ts'
import { openDay } from './days.ts'
import type { Sample } from './rules-codec.ts'
import { type DownsampledSample, downsample } from './rules-downsample.ts'
import { byKey } from './rules-merge.ts'
import * as store from './store-days.ts'

export const PAGE_SIZE = 10_000
export const MAX_ARRAY_SAMPLES = 100_000
/** A page of downsampled intervals ends early after this many samples. A day can have thousands of samples for one interval. */
export const MAX_PAGE_SAMPLES = 500_000

type Query = { start_date: string; end_date?: string | null | undefined; provider: string }
type PagedQuery = Query & {
  next_cursor?: string | null | undefined
  cursor?: string | null | undefined
  downsample?: string | null | undefined
}

/** Lists samples by source, one page at a time. */
export async function listSamples(app: App, caller: TeamCaller, user_id: string, resource: string, query: PagedQuery) {
  const window = windowOf(app, caller, user_id, resolveSeriesName(resource), query)
  const cursor = query.next_cursor ?? query.cursor
  const interval = query.downsample ? downsampleInterval(window.row, query.downsample) : undefined
  const start = cursor ? positionOf(cursor) : undefined
  const first = nextDays(app, window, start, requestedFor(interval, PAGE_SIZE))
  const [samplesQuery, days] = await Promise.all([withKey(app, window), first])
  const { found, next } = await readPage(app, samplesQuery, { start, days }, interval)
  const groups: Record<string, ReturnType<typeof presentGroup>[]> = {}
  for (const [provider, rows] of Map.groupBy(found, ({ provider }) => provider)) {
    const ofProvider = groupByOrigin(
      samplesQuery.row,
      rows.flatMap(({ samples }) => samples),
    )
    groups[provider] = ofProvider.map(({ origin, samples }) => presentGroup(app, samplesQuery.row, provider as SourceSlug, origin, samples))
  }
  const next_cursor = next ? cursorOf(next) : null
  return shaped({ groups, next: next_cursor, next_cursor })
}

type Origin = Parameters<typeof presentSource>[2]

const presentGroup = (app: App, row: Series, provider: SourceSlug, origin: Origin, samples: (Sample | DownsampledSample)[]) => ({
  source: presentSource(app, provider, origin),
  data: longJsonList<Sample | DownsampledSample, PresentedSample>(() => samples, writerOf(row)),
})

function writerOf(row: Series) {
  const [write, presentInterval] = [sampleWriter(row), samplePresenter({ ...row, interval: true })]
  const writeInterval = (sample: DownsampledSample) => {
    const { min, max, count } = sample
    return JSON.stringify({ ...presentInterval(sample), min, max, count })
  }
  return (samples: (Sample | DownsampledSample)[]) => (areIntervals(samples) ? samples.map(writeInterval).join() : write(samples))
}

/** A page has samples or intervals, not both. */
const areIntervals = (samples: (Sample | DownsampledSample)[]): samples is DownsampledSample[] => 'count' in (samples[0] ?? {})

function downsampleInterval({ valueKind }: Series, text: string) {
  if (valueKind !== 'number')
    throw invalid(['query', 'downsample'], 'Not available for this resource, because its samples are not single numbers.')
  return parseInterval(text)
}

/** The deprecated form without pages. */
export async function listSamplesPlain(app: App, caller: TeamCaller, user_id: string, resource: string, query: Query, type?: string) {
  const window = windowOf(app, caller, user_id, resolveSeriesName(resource), query)
  const [samplesQuery, rows] = await Promise.all([withKey(app, window), nextDays(app, window, undefined, MAX_ARRAY_SAMPLES + 1)])
  if (rows.reduce((sum, { samples }) => sum + samples, 0) > MAX_ARRAY_SAMPLES)
    throw problem(
      'TOO_MANY_SAMPLES',
      'The period contains more than 100,000 samples. Read it page by page at /grouped, or choose a shorter period.',
    )
  const all = function* () {
    for (const samples of samplesByDay(samplesQuery, rows))
      yield* type === undefined ? samples : samples.filter((sample) => sample.type === type)
  }
  return shaped(longJsonList<Sample, PresentedSample>(all, sampleWriter(window.row)))
}

export const listCholesterol = (app: App, caller: TeamCaller, user_id: string, type: string, query: Query) =>
  listSamplesPlain(app, caller, user_id, 'cholesterol', query, type)

/** Reads all samples of a window, in order of time. */
export async function readAll(app: App, samplesQuery: SampleQuery): Promise<Sample[]> {
  const rows = await store.readDays(app.db, samplesQuery.window, Number.MAX_SAFE_INTEGER)
  const endSlice = cutIntoSlices()
  const found: Sample[][] = []
  for (const samples of samplesByDay(samplesQuery, rows)) {
    found.push(samples)
    await endSlice()
  }
  return found.flat()
}

/** Decodes days, in order of time. A day has one row for each source and source type. */
function* samplesByDay(samplesQuery: SampleQuery, rows: store.StoredDay[]) {
  for (const ofDay of Map.groupBy(rows, ({ day }) => day).values())
    yield ofDay.flatMap((row) => samplesInRange(samplesQuery, row)).sort(byKey)
}

type SampleWindow = { row: Series; range: Range; window: store.Window }
type SampleQuery = SampleWindow & { key: SealingKey }

function windowOf(app: App, { team_id }: TeamCaller, user_id: string, name: SeriesName, query: Query): SampleWindow {
  const range = rangeOf(query.start_date, query.end_date, app.now())
  return { row: series[name], range, window: windowFor({ team_id, user_id, provider: sourceFilter(query), range }, name) }
}

/** Loads the user, who must exist. */
async function withKey(app: App, window: SampleWindow): Promise<SampleQuery> {
  const { team_id, user_id } = window.window
  return { ...window, key: await unwrapUserKey(app, await requireUser(app, team_id, user_id)) }
}

type WindowOptions = { team_id: string; user_id: string; provider: string | undefined; range: Range }

const windowFor = ({ range, ...owner }: WindowOptions, name: SeriesName) => ({
  ...owner,
  ...{ resource: name, from: dayOf(range.from), to: dayOf(range.to) },
})

export const queryFor = ({ key, ...options }: WindowOptions & { key: SealingKey }, name: SeriesName): SampleQuery => ({
  ...{ row: series[name], key, range: options.range },
  window: windowFor(options, name),
})

function samplesInRange({ key, window: { team_id, user_id, resource }, range: { from, to } }: SampleQuery, row: store.StoredDay) {
  const samples = openDay(key, { team_id, user_id, resource, provider: row.provider }, row)
  const start = Date.parse(row.day)
  return from <= start && to >= start + DAY - 1 ? samples : samples.filter(({ at }) => at >= from && at <= to)
}

type FoundSamples = { provider: string; samples: (Sample | DownsampledSample)[] }

type FirstDays = { start: Position | undefined; days: store.StoredDay[] }

/** A day can have many samples for one interval. */
const requestedFor = (interval: number | undefined, remaining: number) => (interval ? PAGE_SIZE * 10 : remaining)

async function readPage(app: App, samplesQuery: SampleQuery, { start, days }: FirstDays, interval: number | undefined) {
  const found: FoundSamples[] = []
  let remaining = PAGE_SIZE
  let position = start
  let read = 0
  let first: store.StoredDay[] | undefined = days
  const endSlice = cutIntoSlices()
  while (remaining > 0 && read < MAX_PAGE_SAMPLES) {
    const requested = requestedFor(interval, remaining)
    const rows = first ?? (await nextDays(app, samplesQuery, position, requested))
    first = undefined
    for (const row of rows) {
      await endSlice()
      read += row.samples
      const { day, provider, source_type } = row
      const inRange = samplesInRange(samplesQuery, row)
      const samples = samplesAfter(position, row, interval ? downsample(inRange, interval) : inRange)
      const page = samples.slice(0, countFitting(samples, remaining))
      if (page.length) found.push({ provider, samples: page })
      remaining -= page.length
      const last = page.at(-1)
      position = { day, provider, source_type, within: page.length < samples.length && last ? { at: last.at, type: last.type } : undefined }
      if (page.length < samples.length) return { found, next: position }
    }
    const isLast = rows.reduce((sum, { samples }) => sum + samples, 0) < requested
    if (isLast) return { found, next: undefined }
  }
  return { found, next: (await nextDays(app, samplesQuery, position, 1)).length ? position : undefined }
}

/** Counts the samples that fit, plus those with the same key as the last one, because a cursor points between keys. */
function countFitting(samples: Sample[], remaining: number) {
  let count = Math.min(remaining, samples.length)
  while (count < samples.length && byKey(samples[count - 1] as Sample, samples[count] as Sample) === 0) count++
  return count
}

/** The days after a position, including its own day if samples of it are left. */
const nextDays = (app: App, { window }: SampleWindow, position: Position | undefined, samples: number) =>
  store.readDays(app.db, { ...window, after: position, isDone: position?.within === undefined }, samples)

/** The samples of a day after the position. */
function samplesAfter(position: Position | undefined, row: store.StoredDay, samples: (Sample | DownsampledSample)[]) {
  const { within } = position ?? {}
  if (!within || position?.day !== row.day || position.provider !== row.provider || position.source_type !== row.source_type) return samples
  return samples.filter((sample) => byKey(sample, within) > 0)
}
