import type { Fault } from '../../../contract/faults.ts'
import { newSummaries, pulledSummaries } from '../../../contract/wearables/new-summaries.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { type App, type AppInTransaction, inTransaction, withoutRequestRows } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { limitLockWait } from '../../../platform/db/local-settings.ts'
import { Problem } from '../../../platform/problem.ts'
import { runInSlices } from '../../../platform/shares/slices.ts'
import { fillBirthDate } from '../../../tenants/users/fallbacks.ts'
import { connectSource, type IncomingPush, ingestionFilter, openPush, type PushBody } from '../incoming-push.ts'
import { retryWrite } from '../samples/days.ts'
import { countOutcomes, type MergedSeries, mergeSeries, pushResult, resolveDevices, writeMergedSeries } from '../samples/ingest.ts'
import { withoutDeleted } from './delete-summaries.ts'
import { buildActivity, buildBody, buildProfile } from './rules-activity.ts'
import { buildElectrocardiogram, buildMeal, buildMenstrualCycle, buildWorkout } from './rules-sessions.ts'
import { buildSleep, buildSleepCycle } from './rules-sleep.ts'
import {
  type BuildContext,
  type BuiltItem,
  ITEMS_PER_STEP,
  MAX_SUMMARIES,
  parseSummaries,
  type ReportFault,
  readEmbeddedSamples,
  summaryId,
  tooManySummaries,
} from './rules-summary.ts'
import { resolveDraftDevices, saveDrafts } from './save-summaries.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shape and the builder of an item belong to the same resource.
type Builder = (item: any, raw: unknown, context: BuildContext, reportFault: ReportFault) => BuiltItem

const builders: Record<SummaryName, Builder> = {
  activity: buildActivity,
  body: buildBody,
  profile: buildProfile,
  sleep: buildSleep,
  sleep_cycle: buildSleepCycle,
  workouts: buildWorkout,
  electrocardiogram: buildElectrocardiogram,
  meal: buildMeal,
  menstrual_cycle: buildMenstrualCycle,
}

/** Stores pushed summaries with their embedded samples, completely or not at all. */
export async function pushSummaries(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: SummaryName,
  { data, ...body }: PushBody & { data?: unknown },
) {
  const push = await openPush(app, caller, user_id, body)
  const built = await runInSlices(buildSummaries(push, resource, data))
  await connectSource(withoutRequestRows(app), push, body)
  const tally = await saveSummaries(app, push, resource, built, Array.isArray(data) ? data.length : 1)
  if (resource === 'profile' && !tally.stale) await fillFallbackBirthDate(withoutRequestRows(app), push, built)
  return tally
}

/** The birth date of a profile becomes the fallback for sources without one. */
async function fillFallbackBirthDate(app: App, { user, provider }: IncomingPush, built: BuiltItem[]) {
  const birthDate = built.at(-1)?.drafts.at(-1)?.fields['birth_date']
  if (typeof birthDate === 'string') await fillBirthDate(app, user, provider, birthDate)
}

/** Stores built summaries with their samples, completely or not at all. */
export async function saveSummaries(app: App, push: IncomingPush, resource: SummaryName, built: BuiltItem[], received: number) {
  const isWithin = ingestionFilter(push)
  const existing = push.pull ? await withoutDeleted(app, push, built) : built
  const drafts = existing.flatMap(({ drafts }) => drafts)
  const accepted = drafts.filter(({ period }) => !period || isWithin(period.from, period.to))
  const embedded = groupEmbedded(existing, isWithin)
  const resolved = await resolveDraftDevices(withoutRequestRows(app), push, accepted)
  for (const { samples } of embedded) await resolveDevices(withoutRequestRows(app), push, samples)
  return retryWrite(app, async (locks) => {
    const merge = async (app: App) => {
      const merged: MergedSeries[] = []
      for (const group of embedded) merged.push(await mergeSeries(app, push, { ...group, locks }))
      return merged
    }
    const mergedBefore = locks ? undefined : await merge(app)
    const write = async (app: AppInTransaction) => {
      if (push.lockTimeoutMs) await limitLockWait(app.db, push.lockTimeoutMs)
      const merged = mergedBefore ?? (await merge(app))
      const tally = await saveDrafts(app, push, resolved, resource)
      await writeMergedSeries(app, push, merged)
      return pushResult(received, drafts.length - accepted.length, countOutcomes(merged, tally))
    }
    return inTransaction(app, write, { retry: locks })
  })
}

/** Builds the summaries of a push and reports the faults of all items together. */
export function* buildSummaries(push: IncomingPush, resource: SummaryName, data: unknown) {
  const faults: Fault[] = []
  const built: BuiltItem[] = []
  for (const { item, raw, loc } of yield* parseSummaries(push.pull ? pulledSummaries : newSummaries, resource, data)) {
    if (built.length && built.length % ITEMS_PER_STEP === 0) yield
    const reportFault: ReportFault = (field, msg) => faults.push({ type: 'value_error', loc: [...loc, ...field.split('.')], msg })
    const samples = yield* readEmbeddedSamples(item, { ...push, loc })
    built.push(builders[resource](item, raw, contextOf(push, samples), reportFault))
  }
  if (faults.length) throw new Problem('invalid', faults.slice(0, 20))
  if (built.reduce((sum, { drafts }) => sum + drafts.length, 0) > MAX_SUMMARIES) throw tooManySummaries(MAX_SUMMARIES)
  return built
}

function contextOf(push: IncomingPush, samples: BuiltItem['samples']): BuildContext {
  const { user, provider } = push
  return { ...push, samples, idOf: (resource, external) => summaryId(user.user_id, provider, resource, external) }
}

/** Groups the embedded samples by resource, always in the same order, so that locks are taken in one order. */
function groupEmbedded(built: BuiltItem[], isWithin: (at: number) => boolean) {
  const bySeries = Map.groupBy(
    built.flatMap(({ samples }) => samples),
    ({ name }) => name,
  )
  return [...bySeries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, lists]) => ({ name, samples: lists.flatMap(({ samples }) => samples).filter(({ at }) => isWithin(at)) }))
}
