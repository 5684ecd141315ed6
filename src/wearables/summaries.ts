import { type App, inTransaction, type TeamCaller } from '../app.ts'
import type { Fault } from '../contract/faults.ts'
import { type SeriesName, series } from '../contract/series.ts'
import type { SummaryName } from '../contract/summaries.ts'
import { Problem } from '../problem.ts'
import { endBackfill } from './backfill.ts'
import { connect, type Delivery, openDelivery, type Pushed, within } from './delivery.ts'
import { taken, takeSamples } from './ingest.ts'
import { takeSummaries } from './keep-summaries.ts'
import { makeActivity, makeBody, makeProfile } from './rules-activity.ts'
import type { Incoming } from './rules-merge.ts'
import { checkSpread, readSamples } from './rules-samples.ts'
import { makeElectrocardiogram, makeMeal, makeMenstrualCycle, makeWorkout } from './rules-sessions.ts'
import { makeSleep, makeSleepCycle } from './rules-sleep.ts'
import { type Made, type Making, MOST_SUMMARIES, parseSummaries, type Refuse, summaryId, tooMany } from './rules-summary.ts'

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

/** Takes in summaries that were pushed, with the samples they bring along: all of it or nothing. */
export async function pushSummaries(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: SummaryName,
  { data, ...pushed }: Pushed & { data?: unknown },
) {
  const delivery = await openDelivery(app, caller, user_id, pushed)
  const made = madeOf(delivery, resource, data)
  return inTransaction(app, async (app) => {
    await connect(app, delivery)
    return keepMade(app, delivery, resource, made, Array.isArray(data) ? data.length : 1)
  })
}

export async function keepMade(app: App, delivery: Delivery, resource: SummaryName, made: Made[], received: number) {
  const isWithin = within(delivery)
  const drafts = made.flatMap(({ drafts }) => drafts)
  const kept = drafts.filter(({ about }) => !about || isWithin(about.from) || isWithin(about.to))
  const tally = await takeSummaries(app, delivery, kept, [resource])
  const samples = await takeBrought(app, delivery, made, isWithin)
  return taken(received, drafts.length - kept.length, {
    created: tally.created + samples.created,
    updated: tally.updated + samples.updated,
    unchanged: tally.unchanged + samples.unchanged,
    stale: tally.stale + samples.stale,
  })
}

/** What the items come to; every fault of every item at once. */
export function madeOf(delivery: Delivery, resource: SummaryName, data: unknown): Made[] {
  const faults: Fault[] = []
  const made = parseSummaries(resource, data).map(({ item, raw, loc }) => {
    const refuse: Refuse = (field, msg) => faults.push({ type: 'value_error', loc: [...loc, ...field.split('.')], msg })
    return makers[resource](item, raw, makingOf(delivery, loc), refuse)
  })
  if (faults.length) throw new Problem('invalid', faults.slice(0, 20))
  if (made.reduce((sum, { drafts }) => sum + drafts.length, 0) > MOST_SUMMARIES) throw tooMany(MOST_SUMMARIES)
  return made
}

function makingOf(delivery: Delivery, loc: Fault['loc']): Making {
  const { user, provider } = delivery
  return {
    ...delivery,
    idOf: (resource, external) => summaryId(user.user_id, provider, resource, external),
    read: (name, field, data) => {
      const samples = readSamples(series[name], data, { ...delivery, loc: [...loc, field] })
      checkSpread(series[name], samples)
      return samples
    },
  }
}

/** The samples that came along, of each resource at once. */
async function takeBrought(app: App, delivery: Delivery, made: Made[], isWithin: (at: number) => boolean) {
  const tally = { created: 0, updated: 0, unchanged: 0, stale: 0 }
  const bySeries = new Map<SeriesName, Incoming[]>()
  for (const { name, samples } of made.flatMap(({ samples }) => samples)) bySeries.set(name, [...(bySeries.get(name) ?? []), ...samples])
  for (const [name, samples] of [...bySeries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const changes = await takeSamples(
      app,
      delivery,
      name,
      samples.filter(({ at }) => isWithin(at)),
    )
    if (delivery.stage === 'historical') await endBackfill(app, delivery, [{ resource: series[name].event ?? name, ...changes }])
    tally.created += changes.created.length
    tally.updated += changes.updated.length
    tally.unchanged += changes.unchanged
    tally.stale += changes.stale
  }
  return tally
}
