import { embeddedSeries } from '../../contract/wearables/new-summaries.ts'
import type { SeriesName } from '../../contract/wearables/series.ts'
import type { SummaryName } from '../../contract/wearables/summaries.ts'
import type { App } from '../../platform/app.ts'
import { Problem } from '../../platform/problem.ts'
import { runAtOnce } from '../../platform/shares/slices.ts'
import { type IncomingPush, openPush, type ResourceChanges } from '../data/incoming-push.ts'
import { parsePushedSamples, saveSamples } from '../data/samples/ingest.ts'
import { removeSamples } from '../data/samples/remove.ts'
import { saveStreams } from '../data/streams/streams.ts'
import {
  deleteDays,
  deleteSessions,
  deleteSummaries,
  dependents,
  restoreSummary,
  storedPeriods,
} from '../data/summaries/delete-summaries.ts'
import type { BuiltItem } from '../data/summaries/rules-summary.ts'
import { buildSummaries, saveSummaries } from '../data/summaries/summaries.ts'
import type { DeletedObject, Records } from '../providers/cloud.ts'
import { fieldOf } from '../providers/reading/records.ts'
import { dayOf } from '../time/rules.ts'
import type { Window } from './rules.ts'
import type { Skips } from './skips/skips.ts'

export type Target = {
  team_id: string
  user_id: string
  provider: string
  stage: 'daily' | 'historical'
  window: Window
  /** Periods that the source reported as changed. Sessions that it has there exist, even if it deleted them before. */
  changed?: Window[]
}

type Saving = { skips: Skips; collect?: ((found: ResourceChanges[]) => void) | undefined }

/** Items of one write. Larger pages are several writes. */
const MAX_ITEMS = 200
const MAX_SAMPLES = 10_000

/** Stores one page like a push. Items that are not plausible are noted. */
export async function saveRecords(app: App, target: Target, records: Records, { skips, collect }: Saving) {
  const push = replacing(await openPull(app, target, collect), records)
  const kept = new Map<SeriesName, Set<string>>()
  const keep = (name: SeriesName, samples: { at: number; type: string }[]) => {
    const keys = kept.get(name) ?? new Set()
    for (const sample of samples) keys.add(keyOf(sample))
    kept.set(name, keys)
  }
  const periods: Period[] = []
  const keptSummaries = new Set<string>()
  for (const { resource, items } of records.summaries ?? [])
    for (const chunk of chunks(items, MAX_ITEMS)) {
      const built = chunk.flatMap((item) => plausibleSummaries(push, skips, resource, item))
      if (records.sessionSeries?.resource === resource) periods.push(...(await periodsOf(app, push, resource, built)))
      for (const { name, samples } of built.flatMap(({ samples }) => samples)) keep(name, samples)
      for (const { resource, external } of built.flatMap(({ drafts }) => drafts)) keptSummaries.add(`${resource} ${external}`)
      if (records.complete?.sessions?.includes(resource)) await restoreChanged(app, target, built)
      await saveSummaries(app, push, resource, built, built.length)
    }
  await saveStreams(app, push, records.streams ?? [])
  for (const { name, items } of records.samples ?? [])
    for (const chunk of chunks(items, MAX_SAMPLES)) {
      const parse = (data: unknown[]) => runAtOnce(parsePushedSamples(push, name, data))
      const whole = ifPlausible(() => parse(chunk))
      if (whole.result) for (const item of chunk) skips.note({ kind: name, record: item })
      const parsed = whole.result ? [whole.result] : chunk.flatMap((item) => plausible(skips, name, item, () => parse([item])) ?? [])
      for (const { accepted } of parsed) keep(name, accepted)
      const accepted = parsed.flatMap((one) => one.accepted)
      await saveSamples(app, push, [{ name, accepted, received: accepted.length, dropped: 0 }])
    }
  const isKept = (name: SeriesName, sample: { at: number; type: string }) => kept.get(name)?.has(keyOf(sample)) ?? false
  await removeSamples(app, push, records.sessionSeries?.series ?? [], periods, isKept)
  // An item that was skipped does not mean that the source deleted the earlier one.
  if (records.complete && !skips.inWindow) await removeOthers(app, push, records, keptSummaries, isKept)
  await deleteRecords(app, push, records.deleted ?? [])
}

/** A page with everything of some days replaces what is stored of them. */
function replacing(push: IncomingPush, { complete }: Records): IncomingPush {
  const { days, window } = complete ?? {}
  if (!days?.length || !window) return push
  const [first, last] = [dayOf(Date.parse(window.from)), dayOf(Date.parse(window.to))]
  const isComplete = (resource: SummaryName, day: string) => days.includes(resource) && day >= first && day <= last
  return { ...push, pull: { ...push.pull, isComplete } }
}

/** Accepts sessions again that the source deleted and has in a period that changed since. */
async function restoreChanged(app: App, target: Target, built: BuiltItem[]) {
  const periods = (target.changed ?? []).map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }))
  for (const { resource, external, period } of built.flatMap(({ drafts }) => drafts))
    if (period && periods.some(({ from, to }) => period.from <= to && period.to >= from))
      await restoreSummary(app, target, resource, external)
}

type Period = { from: number; to: number }

const keyOf = ({ at, type }: { at: number; type: string }) => `${at} ${type}`

export const openPull = async (
  app: App,
  { team_id, user_id, provider, stage, window }: Target,
  collect?: (found: ResourceChanges[]) => void,
) => {
  const opened = await openPush(app, { team_id }, user_id, { stage, provider, start_date: window.from, end_date: window.to })
  return { ...opened, pull: collect ? { collect } : {} }
}

/** Deletes what the source does not have anymore in a period. */
async function removeOthers(
  app: App,
  push: IncomingPush,
  { complete, sessionSeries }: Records,
  keptSummaries: Set<string>,
  isKept: (name: SeriesName, sample: { at: number; type: string }) => boolean,
) {
  const { series = [], types, days = [], sessions = [], window = { from: '', to: '' } } = complete ?? {}
  const period = { from: Date.parse(window.from), to: Date.parse(window.to) }
  const isCovered = (name: SeriesName, { type }: { type: string }) => types?.[name]?.includes(type) ?? true
  await removeSamples(app, push, series, [period], (name, sample) => isKept(name, sample) || !isCovered(name, sample))
  for (const resource of days)
    await deleteDays(app, push, resource, dayOf(period.from), dayOf(period.to), (day) => keptSummaries.has(`${resource} ${day}`))
  for (const resource of sessions) {
    const kept = [...keptSummaries].flatMap((key) => (key.startsWith(`${resource} `) ? key.slice(resource.length + 1) : []))
    const periods = (await deleteSessions(app, push, resource, period, kept)).flatMap((gone) => gone.period ?? [])
    await removeSamples(app, push, sessionSeries?.series ?? [], periods, () => false)
  }
}

/** The periods of sessions, now and before. Samples that were measured in a period end with it. */
async function periodsOf(app: App, push: IncomingPush, resource: SummaryName, built: BuiltItem[]) {
  const drafts = built.flatMap(({ drafts }) => drafts).filter((draft) => draft.resource === resource)
  const before = await storedPeriods(
    app,
    push,
    resource,
    drafts.map(({ external }) => external),
  )
  return [...before, ...drafts.flatMap(({ period }) => period ?? [])]
}

/** Deletes objects that the source deleted, with the samples of their sessions. */
export async function deleteRecords(app: App, push: IncomingPush, objects: DeletedObject[]) {
  for (const { resource, id: external, at, series } of objects) {
    const time = Date.parse(at)
    const resources = [resource, ...(dependents[resource] ?? [])]
    const gone = await deleteSummaries(
      app,
      push,
      resources.map((resource) => ({ resource, external, at: time })),
    )
    const periods = gone.flatMap(({ period }) => period ?? [])
    await removeSamples(app, push, series, periods, () => false)
  }
}

/** A value that Assay would refuse from a client must not stop the other values of a source. */
function ifPlausible<T>(parse: () => T): { result: T; problem?: undefined } | { result?: undefined; problem: Problem } {
  try {
    return { result: parse() }
  } catch (problem) {
    if (problem instanceof Problem) return { problem }
    throw problem
  }
}

/** Builds the summaries of one item, without those of its samples that are not plausible. */
function plausibleSummaries(push: IncomingPush, skips: Skips, resource: SummaryName, item: Record<string, unknown>) {
  const build = (item: object) => runAtOnce(buildSummaries(push, resource, [item]))
  const whole = ifPlausible(() => build(item)).result
  const samples = Object.entries(embeddedSeries).flatMap(([field, name]) => {
    const list = item[field]
    const isPlausible = (sample: unknown) =>
      plausible(skips, name, sample, () => whole ?? runAtOnce(parsePushedSamples(push, name, [sample])))
    return Array.isArray(list) ? [[field, list.filter(isPlausible)]] : []
  })
  return plausible(skips, resource, item, () => whole ?? build({ ...item, ...Object.fromEntries(samples) })) ?? []
}

/** Parses one item, or notes why it is left out. */
function plausible<T>(skips: Skips, kind: string, record: unknown, parse: () => T): T | undefined {
  const { result, problem } = ifPlausible(parse)
  const [loc] = Array.isArray(problem?.detail) ? problem.detail.map(({ loc }) => loc) : []
  skips.note({ kind, record, fault: problem && { reason: 'implausible', field: fieldOf((loc ?? []).slice(2)) } })
  return result
}

const chunks = <T>(list: T[], size: number) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
