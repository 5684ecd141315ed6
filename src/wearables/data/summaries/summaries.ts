import type { Fault } from '../../../contract/faults.ts'
import { series } from '../../../contract/wearables/series.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { type App, type AppInTransaction, inTransaction, withoutRequestRows } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { Problem } from '../../../platform/problem.ts'
import { fillBirthDate } from '../../../tenants/users/fallbacks.ts'
import { connect, type IncomingPush, openPush, type PushBody, within } from '../incoming-push.ts'
import { retryWrite } from '../samples/days.ts'
import { type Merged, mergeRead, nameDevices, pushResult, tallyOf, writeMerged } from '../samples/ingest.ts'
import { checkSpread, readSamples } from '../samples/rules-samples.ts'
import { giveWay } from '../samples/store-write.ts'
import { makeActivity, makeBody, makeProfile } from './rules-activity.ts'
import { makeElectrocardiogram, makeMeal, makeMenstrualCycle, makeWorkout } from './rules-sessions.ts'
import { makeSleep, makeSleepCycle } from './rules-sleep.ts'
import { type Made, type Making, MOST_SUMMARIES, parseSummaries, type Refuse, summaryId, tooMany } from './rules-summary.ts'
import { nameDrafts, takeSummaries } from './save-summaries.ts'

// biome-ignore lint/suspicious/noExplicitAny: an item was parsed by the shape of its resource, and its maker is found by the same name.
type Make = (item: any, raw: unknown, making: Making, refuse: Refuse) => Made

const makers: Record<SummaryName, Make> = {
  activity: makeActivity,
  body: makeBody,
  profile: makeProfile,
  sleep: makeSleep,
  sleep_cycle: makeSleepCycle,
  workouts: makeWorkout,
  electrocardiogram: makeElectrocardiogram,
  meal: makeMeal,
  menstrual_cycle: makeMenstrualCycle,
}

/** Stores pushed summaries with their embedded samples, completely or not at all. */
export async function pushSummaries(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: SummaryName,
  { data, ...pushed }: PushBody & { data?: unknown },
) {
  const delivery = await openPush(app, caller, user_id, pushed)
  const made = buildSummaries(delivery, resource, data)
  await connect(withoutRequestRows(app), delivery, pushed)
  const tally = await saveSummaries(app, delivery, resource, made, Array.isArray(data) ? data.length : 1)
  if (resource === 'profile' && !tally.stale) await noteBirth(withoutRequestRows(app), delivery, made)
  return tally
}

/** The birth date of a profile becomes the fallback for sources without one. */
async function noteBirth(app: App, { user, provider }: IncomingPush, made: Made[]) {
  const birth = made.at(-1)?.drafts.at(-1)?.fields['birth_date']
  if (typeof birth === 'string') await fillBirthDate(app, user, provider, birth)
}

/** Stores built summaries with their samples, completely or not at all. */
export async function saveSummaries(app: App, delivery: IncomingPush, resource: SummaryName, made: Made[], received: number) {
  const isWithin = within(delivery)
  const drafts = made.flatMap(({ drafts }) => drafts)
  const kept = drafts.filter(({ about }) => !about || isWithin(about.from, about.to))
  const brought = broughtIn(made, isWithin)
  const named = await nameDrafts(withoutRequestRows(app), delivery, kept)
  for (const { samples } of brought) await nameDevices(withoutRequestRows(app), delivery, samples)
  return retryWrite(app, async (holds) => {
    const merge = async (app: App) => {
      const merged: Merged[] = []
      for (const read of brought) merged.push(await mergeRead(app, delivery, { ...read, holds }))
      return merged
    }
    const before = holds ? undefined : await merge(app)
    const write = async (app: AppInTransaction) => {
      if (delivery.givesWay) await giveWay(app.db)
      const merged = before ?? (await merge(app))
      const tally = await takeSummaries(app, delivery, named, [resource])
      await writeMerged(app, delivery, merged)
      return pushResult(received, drafts.length - kept.length, tallyOf(merged, tally))
    }
    return inTransaction(app, write, { retry: holds })
  })
}

/** Builds the summaries of a push and reports the faults of all items together. */
export function buildSummaries(delivery: IncomingPush, resource: SummaryName, data: unknown): Made[] {
  const faults: Fault[] = []
  const made = parseSummaries(resource, data).map(({ item, raw, loc }) => {
    const refuse: Refuse = (field, msg) => faults.push({ type: 'value_error', loc: [...loc, ...field.split('.')], msg })
    return makers[resource](item, raw, makingOf(delivery, loc), refuse)
  })
  if (faults.length) throw new Problem('invalid', faults.slice(0, 20))
  if (made.reduce((sum, { drafts }) => sum + drafts.length, 0) > MOST_SUMMARIES) throw tooMany(MOST_SUMMARIES)
  return made
}

function makingOf(delivery: IncomingPush, loc: Fault['loc']): Making {
  const { user, provider } = delivery
  return {
    ...delivery,
    idOf: (resource, external) => summaryId(user.user_id, provider, resource, external),
    read: (name, field, data) => {
      const where = [...loc, field]
      const samples = readSamples(series[name], data, { ...delivery, loc: where })
      checkSpread(series[name], samples, where)
      return samples
    },
  }
}

/** Groups the embedded samples by resource, always in the same order, so that locks are taken in one order. */
function broughtIn(made: Made[], isWithin: (at: number) => boolean) {
  const bySeries = Map.groupBy(
    made.flatMap(({ samples }) => samples),
    ({ name }) => name,
  )
  return [...bySeries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, lists]) => ({ name, samples: lists.flatMap(({ samples }) => samples).filter(({ at }) => isWithin(at)) }))
}
