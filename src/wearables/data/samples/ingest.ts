import { resolveSeriesName, type SeriesName, series } from '../../../contract/wearables/series.ts'
import { type App, type AppInTransaction, inTransaction, withoutRequestRows } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { groupWritesOfTeams } from '../../../platform/db/connections/writes-of-teams.ts'
import { limitLockWait } from '../../../platform/db/local-settings.ts'
import { runInSlices } from '../../../platform/shares/slices.ts'
import { endBackfill } from '../backfill.ts'
import { newDeviceResolver } from '../devices.ts'
import { sampleEvents } from '../emit.ts'
import { connectSource, type IncomingPush, ingestionFilter, openPush, type PushBody } from '../incoming-push.ts'
import { isoOf, parseExtras } from '../rules-present.ts'
import { type Changes, mergeSamples, readDaysEarly, retryWrite } from './days.ts'
import { guessDays } from './rules-days.ts'
import type { IncomingSample } from './rules-merge.ts'
import { readSamples } from './rules-samples.ts'
import { MAX_PIPELINED_DAYS } from './store-days.ts'
import { type Batch, writeBatches } from './store-write.ts'

/** Stores pushed samples, completely or not at all. */
export async function pushSamples(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: string,
  { data, ...body }: PushBody & { data: unknown[] },
) {
  const name = resolveSeriesName(resource)
  const scope = { team_id: caller.team_id, user_id, resource: name, provider: body.provider }
  const early = readDaysEarly(app, scope, guessDays(series[name], data))
  const push = { ...(await openPush(app, caller, user_id, body)), early }
  const parsed = await runInSlices(parsePushedSamples(push, name, data))
  await connectSource(withoutRequestRows(app), push, body)
  return saveSamples(app, push, [parsed])
}

type ParsedSeries = { name: SeriesName; accepted: IncomingSample[]; received: number; dropped: number }

/** Parses samples and drops those outside the ingestion bounds of the user. */
export function* parsePushedSamples(push: IncomingPush, name: SeriesName, data: unknown[]) {
  const samples = yield* readSamples(series[name], data, { ...push, loc: ['body', 'data'] })
  const isWithin = ingestionFilter(push)
  const accepted = samples.filter(({ at }) => isWithin(at))
  return { name, accepted, received: data.length, dropped: samples.length - accepted.length }
}

/** Stores parsed samples, completely or not at all, and ends the backfill of a historical push. */
export async function saveSamples(app: App, push: IncomingPush, parsed: ParsedSeries[]) {
  for (const { accepted } of parsed) await resolveDevices(withoutRequestRows(app), push, accepted)
  return retryWrite(app, (locks) =>
    locks ? inTransaction(app, (app) => saveOnce(app, push, parsed, true)) : saveOnce(app, push, parsed, false),
  )
}

async function saveOnce(app: App, push: IncomingPush, parsed: ParsedSeries[], locks: boolean) {
  const merged: MergedSeries[] = []
  for (const { name, accepted } of parsed) merged.push(await mergeSeries(app, push, { name, samples: accepted, locks }))
  const sum = (count: (series: ParsedSeries) => number) => parsed.reduce((sum, series) => sum + count(series), 0)
  const result = pushResult(
    sum(({ received }) => received),
    sum(({ dropped }) => dropped),
    countOutcomes(merged),
  )
  if (isRepeated(push, merged)) return result
  const [only] = merged
  if (merged.length === 1 && only?.batch && isSmallLivePush(app, only.batch)) return writePipelined(app, push, only.batch, result)
  const write = async (app: AppInTransaction) => {
    await writeMergedSeries(app, push, merged)
    return result
  }
  return inTransaction(app, write, { retry: false })
}

/** A pull reads the same data again and again. Without a change there is nothing to write. */
const isRepeated = ({ pull, stage }: IncomingPush, merged: MergedSeries[]) =>
  pull !== undefined && stage === 'daily' && merged.every(({ batch }) => !batch?.days.length && !batch?.events.length)

/** Small live pushes use a pipelined connection and write the audit row in the same statement. */
const isSmallLivePush = ({ requestRows, transaction }: App, { days, state }: Batch) =>
  requestRows !== undefined && !transaction && state.stage === 'daily' && days.length <= MAX_PIPELINED_DAYS

/** A push is idempotent and has no idempotency key, so the audit row is its only request row. */
async function writePipelined<T>(app: App, { key }: IncomingPush, batch: Batch, result: T) {
  await writePush(app, batch.scope.team_id, { ...batch, audit: (await app.requestRows?.(app, result, key))?.audit })
  return result
}

/** Pushes of a team that arrive together share a statement. */
const writePush = groupWritesOfTeams<Batch, void>({
  async write(app, team_id, pushes) {
    await writeBatches(app.db, team_id, pushes)
    app.wake('team log', team_id)
  },
  bytesOf: ({ days, events }) => [...days, ...events].reduce((sum, { sealed }) => sum + sealed.length, 0),
})

/** Writes merged samples in the caller's transaction. */
export async function writeMergedSeries(app: AppInTransaction, push: IncomingPush, merged: MergedSeries[]) {
  if (push.lockTimeoutMs) await limitLockWait(app.db, push.lockTimeoutMs)
  for (const { batch } of merged)
    for (const part of batch ? splitStatements(batch) : []) {
      await writeBatches(app.db, part.scope.team_id, [part])
      app.wake('team log', part.scope.team_id)
    }
  const backfilled = merged.map(({ name, changes }) => ({ resource: series[name].event ?? name, ...changes }))
  if (push.stage === 'historical' && backfilled.length) await endBackfill(app, push, backfilled)
}

/** PostgreSQL holds the days of a statement in memory. */
const MAX_DAYS_PER_STATEMENT = 10_000

function splitStatements({ scope, days, state, events }: Batch): Batch[] {
  const first = { scope, days: days.slice(0, MAX_DAYS_PER_STATEMENT), state, events }
  const rest = days.slice(MAX_DAYS_PER_STATEMENT)
  return rest.length ? [first, ...splitStatements({ scope, days: rest, state: { ...state, sent: 0 }, events: [] })] : [first]
}

export const pushResult = (received: number, dropped: number, tally: Tally) => ({ success: true, received, dropped, ...tally })

type Tally = { created: number; updated: number; unchanged: number; stale: number }

/** Counts the outcomes of samples and adds them to `before`. */
export const countOutcomes = (merged: MergedSeries[], before: Tally = { created: 0, updated: 0, unchanged: 0, stale: 0 }): Tally =>
  merged.reduce(
    (sum, { changes }) => ({
      created: sum.created + changes.created.length,
      updated: sum.updated + changes.updated.length,
      unchanged: sum.unchanged + changes.unchanged,
      stale: sum.stale + changes.stale,
    }),
    before,
  )

export type MergedSeries = { name: SeriesName; changes: Changes; batch: Batch | undefined }

type MergeInput = { name: SeriesName; samples: IncomingSample[]; locks: boolean }

/** Merges samples of one resource into the stored days, and builds the rows and the live events to write. */
export async function mergeSeries(app: App, push: IncomingPush, { name, samples, locks }: MergeInput): Promise<MergedSeries> {
  const { user, key, provider, stage, received, early } = push
  const { team_id, user_id } = user
  if (!samples.length) return { name, changes: { created: [], updated: [], stale: 0, unchanged: 0, days: 0 }, batch: undefined }
  const scope = { team_id, user_id, resource: name, provider }
  const { changes, written } = await mergeSamples(app, key, scope, { samples, received, lastWins: push.pull !== undefined, locks, early })
  const { created, updated } = changes
  const isLive = stage === 'daily'
  const events = isLive ? await runInSlices(sampleEvents(app, push, name, { created, updated })) : []
  const sent = isLive ? created.length + updated.length : 0
  const state = { team_id, user_id, provider, resource: series[name].event ?? name, stage, ...spanOf(samples), sent, at: app.now() }
  return { name, changes, batch: { scope, days: written, state, events } }
}

function spanOf(samples: IncomingSample[]) {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { at } of samples) {
    if (at < oldest) oldest = at
    if (at > newest) newest = at
  }
  return { oldest: isoOf(oldest), newest: isoOf(newest) }
}

/** Replaces the device of each sample with its ID. */
export async function resolveDevices(app: App, push: IncomingPush, samples: IncomingSample[]) {
  const idOf = newDeviceResolver(app, push)
  const cache = new Map<string, string>()
  for (const sample of samples) {
    if (!sample.more) continue
    const cacheKey = `${sample.type} ${sample.more}`
    const extras = cache.get(cacheKey) ?? (await withDeviceId(sample, idOf))
    cache.set(cacheKey, extras)
    sample.more = extras
  }
}

async function withDeviceId({ type, more: extras }: IncomingSample, idOf: ReturnType<typeof newDeviceResolver>) {
  const { device, ...rest } = parseExtras(extras) as { device?: string }
  return device ? JSON.stringify({ ...rest, device_id: await idOf(device, type) }) : extras
}
