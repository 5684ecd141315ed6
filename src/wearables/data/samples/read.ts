import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import { resolveSeriesName, type Series, type SeriesName, series } from '../../../contract/wearables/series.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { requireUser, unwrapUserKey } from '../../../tenants/users/actions.ts'
import { presentSource } from '../emit.ts'
import { sourceAsked } from '../incoming-push.ts'
import { byOrigin, samplePresenter } from '../rules-present.ts'
import { dayOf } from '../rules-time.ts'
import { cursorOf, type Place, positionOf, type Range, rangeOf, stretchOf } from '../rules-window.ts'
import { openDay } from './days.ts'
import type { Sample } from './rules-codec.ts'
import { downsample, type Stretch } from './rules-downsample.ts'
import { byKey } from './rules-merge.ts'
import * as store from './store-days.ts'

const PAGE = 10_000
const MOST_IN_AN_ARRAY = 100_000

type Query = { start_date: string; end_date?: string | null | undefined; provider: string }
type Paged = Query & {
  next_cursor?: string | null | undefined
  cursor?: string | null | undefined
  downsample?: string | null | undefined
}

/** Lists samples by source, one page at a time. */
export async function listSamples(app: App, caller: TeamCaller, user_id: string, resource: string, query: Paged) {
  const shelf = await shelfOf(app, caller, user_id, resolveSeriesName(resource), query)
  const cursor = query.next_cursor ?? query.cursor
  const stretch = query.downsample ? thinning(shelf.row, query.downsample) : undefined
  const { found, next } = await readPage(app, shelf, cursor ? positionOf(cursor) : undefined, stretch)
  const groups = [...Map.groupBy(found, ({ provider }) => provider)].map(([provider, rows]) => {
    const samples = rows.flatMap(({ samples }) => samples)
    return [
      provider,
      byOrigin(shelf.row, samples).map(({ origin, samples }) => shownGroup(app, shelf.row, provider as SourceSlug, origin, samples)),
    ]
  })
  const next_cursor = next ? cursorOf(next) : null
  return { groups: Object.fromEntries(groups), next: next_cursor, next_cursor }
}

type Origin = Parameters<typeof presentSource>[2]

const shownGroup = (app: App, row: Series, provider: SourceSlug, origin: Origin, samples: (Sample | Stretch)[]) => ({
  source: presentSource(app, provider, origin),
  data: samples.map(shown(row)),
})

function shown(row: Series) {
  const [show, lasting] = [samplePresenter(row), samplePresenter({ ...row, interval: true })]
  return (sample: Sample | Stretch) => {
    if (!('count' in sample)) return show(sample)
    const { min, max, count } = sample
    return { ...lasting(sample), min, max, count }
  }
}

function thinning({ valueKind: says }: Series, text: string) {
  if (says !== 'number')
    throw invalid(['query', 'downsample'], 'Not available for this resource, because its samples are not single numbers.')
  return stretchOf(text)
}

/** The deprecated form without pages. */
export async function listSamplesPlain(app: App, caller: TeamCaller, user_id: string, resource: string, query: Query, type?: string) {
  const shelf = await shelfOf(app, caller, user_id, resolveSeriesName(resource), query)
  if ((await store.countSamples(app.db, shelf.window)) > MOST_IN_AN_ARRAY)
    throw problem(
      'TOO_MANY_SAMPLES',
      'The period contains more than 100,000 samples. Read it page by page at /grouped, or choose a shorter period.',
    )
  const samples = await readAll(app, shelf)
  return samples.filter((sample) => type === undefined || sample.type === type).map(samplePresenter(shelf.row))
}

export const listCholesterol = (app: App, caller: TeamCaller, user_id: string, type: string, query: Query) =>
  listSamplesPlain(app, caller, user_id, 'cholesterol', query, type)

/** Reads all samples of a window, in order of time. */
export async function readAll(app: App, shelf: Shelf): Promise<Sample[]> {
  const rows = await store.readDays(app.db, shelf.window, Number.MAX_SAFE_INTEGER)
  return rows.flatMap((row) => inRange(shelf, row)).sort(byKey)
}

type Shelf = { row: Series; key: SealingKey; range: Range; window: store.Window }

async function shelfOf(app: App, { team_id }: TeamCaller, user_id: string, name: SeriesName, query: Query): Promise<Shelf> {
  const user = await requireUser(app, team_id, user_id)
  const range = rangeOf(query.start_date, query.end_date, app.now())
  return shelfFor({ team_id, user_id, provider: sourceAsked(query), range, key: await unwrapUserKey(app, user) }, name)
}

type Whose = { team_id: string; user_id: string; provider: string | undefined; range: Range; key: SealingKey }

export const shelfFor = ({ team_id, user_id, provider, range, key }: Whose, name: SeriesName): Shelf => ({
  ...{ row: series[name], key, range },
  window: { team_id, user_id, resource: name, provider, from: dayOf(range.from), to: dayOf(range.to) },
})

const inRange = ({ key, window: { team_id, user_id, resource }, range: { from, to } }: Shelf, row: store.ReadDay) =>
  openDay(key, { team_id, user_id, resource, provider: row.provider }, row).filter(({ at }) => at >= from && at <= to)

type Found = { provider: string; samples: (Sample | Stretch)[] }

async function readPage(app: App, shelf: Shelf, start: Place | undefined, stretch: number | undefined) {
  const found: Found[] = []
  let room = PAGE
  let place = start
  while (room > 0) {
    const rows = await nextDays(app, shelf, place, stretch ? PAGE * 10 : room)
    if (!rows.length) return { found, next: undefined }
    for (const row of rows) {
      const { day, provider, source_type } = row
      const samples = beyond(place, row, stretch ? downsample(inRange(shelf, row), stretch) : inRange(shelf, row))
      const fit = samples.slice(0, fitting(samples, room))
      if (fit.length) found.push({ provider, samples: fit })
      room -= fit.length
      const last = fit.at(-1)
      place = { day, provider, source_type, within: fit.length < samples.length && last ? { at: last.at, type: last.type } : undefined }
      if (fit.length < samples.length) return { found, next: place }
    }
  }
  return { found, next: (await nextDays(app, shelf, place, 1)).length ? place : undefined }
}

/** Counts the samples that fit, plus those with the same key as the last one, because a cursor points between keys. */
function fitting(samples: Sample[], room: number) {
  let count = Math.min(room, samples.length)
  while (count < samples.length && byKey(samples[count - 1] as Sample, samples[count] as Sample) === 0) count++
  return count
}

/** The days after a position, including its own day if samples of it are left. */
const nextDays = (app: App, { window }: Shelf, place: Place | undefined, samples: number) =>
  store.readDays(app.db, { ...window, after: place, isDone: place?.within === undefined }, samples)

/** The samples of a day after the position. */
function beyond(place: Place | undefined, row: store.ReadDay, samples: (Sample | Stretch)[]) {
  const { within } = place ?? {}
  if (!within || place?.day !== row.day || place.provider !== row.provider || place.source_type !== row.source_type) return samples
  return samples.filter((sample) => byKey(sample, within) > 0)
}
