import { resolveSeriesName, type SeriesName, series } from '../../../contract/wearables/series.ts'
import { type App, type AppInTransaction, inTransaction, wakeAfterCommit, withoutRequestRows } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { endBackfill } from '../backfill.ts'
import { deviceIds } from '../devices.ts'
import { sampleEvents } from '../emit.ts'
import { connect, type IncomingPush, openPush, type PushBody, within } from '../incoming-push.ts'
import { isoOf, moreOf } from '../rules-present.ts'
import { type Changes, mergeSamples, retryWrite } from './days.ts'
import type { Incoming } from './rules-merge.ts'
import { checkSpread, readSamples } from './rules-samples.ts'
import { type Batch, giveWay, writeBatch } from './store-write.ts'

/** Stores pushed samples, completely or not at all. */
export async function pushSamples(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: string,
  { data, ...pushed }: PushBody & { data: unknown[] },
) {
  const delivery = await openPush(app, caller, user_id, pushed)
  const read = readPushed(delivery, resolveSeriesName(resource), data)
  await connect(withoutRequestRows(app), delivery, pushed)
  return savePushed(app, delivery, [read])
}

export type Read = { name: SeriesName; kept: Incoming[]; received: number; dropped: number }

/** Parses samples and drops those outside the ingestion bounds of the user. */
export function readPushed(delivery: IncomingPush, name: SeriesName, data: unknown[]): Read {
  const samples = readSamples(series[name], data, { ...delivery, loc: ['body', 'data'] })
  checkSpread(series[name], samples, ['body', 'data'])
  const isWithin = within(delivery)
  const kept = samples.filter(({ at }) => isWithin(at))
  return { name, kept, received: data.length, dropped: samples.length - kept.length }
}

/** Stores parsed samples, completely or not at all, and ends the backfill of a historical push. */
export async function savePushed(app: App, delivery: IncomingPush, reads: Read[]) {
  for (const { kept } of reads) await nameDevices(withoutRequestRows(app), delivery, kept)
  return retryWrite(app, (holds) =>
    holds ? inTransaction(app, (app) => keep(app, delivery, reads, true)) : keep(app, delivery, reads, false),
  )
}

async function keep(app: App, delivery: IncomingPush, reads: Read[], holds: boolean) {
  const merged: Merged[] = []
  for (const { name, kept } of reads) merged.push(await mergeRead(app, delivery, { name, samples: kept, holds }))
  const sum = (count: (read: Read) => number) => reads.reduce((sum, read) => sum + count(read), 0)
  const answer = pushResult(
    sum(({ received }) => received),
    sum(({ dropped }) => dropped),
    tallyOf(merged),
  )
  const [only] = merged
  if (merged.length === 1 && only?.batch && isQuick(app, only.batch)) return writeAlone(app, delivery, only.batch, answer)
  const write = async (app: AppInTransaction) => {
    await writeMerged(app, delivery, merged)
    return answer
  }
  return inTransaction(app, write, { retry: false })
}

const QUICK_DAYS = 4

/** Small live pushes use a pipelined connection and write the audit row in the same statement. */
const isQuick = ({ requestRows, transaction }: App, { days, state }: Batch) =>
  requestRows !== undefined && !transaction && state.stage === 'daily' && days.length <= QUICK_DAYS

/** A push is idempotent and has no idempotency key, so the audit row is its only request row. */
async function writeAlone<T>(app: App, { key }: IncomingPush, batch: Batch, answer: T) {
  wakeAfterCommit(app, await writeBatch(app.db, batch, (await app.requestRows?.(app, answer, key))?.audit))
  return answer
}

/** Writes merged samples in the caller's transaction. */
export async function writeMerged(app: AppInTransaction, delivery: IncomingPush, merged: Merged[]) {
  if (delivery.givesWay) await giveWay(app.db)
  for (const { batch } of merged) for (const some of batch ? inStatements(batch) : []) wakeAfterCommit(app, await writeBatch(app.db, some))
  const past = merged.map(({ name, changes }) => ({ resource: series[name].event ?? name, ...changes }))
  if (delivery.stage === 'historical' && past.length) await endBackfill(app, delivery, past)
}

/** PostgreSQL accepts at most 65,535 parameters per statement, and a day has five. */
const DAYS_AT_ONCE = 10_000

function inStatements({ shelf, days, state, events }: Batch): Batch[] {
  const first = { shelf, days: days.slice(0, DAYS_AT_ONCE), state, events }
  const rest = days.slice(DAYS_AT_ONCE)
  return rest.length ? [first, ...inStatements({ shelf, days: rest, state: { ...state, sent: 0 }, events: [] })] : [first]
}

export const pushResult = (received: number, dropped: number, tally: Tally) => ({ success: true, received, dropped, ...tally })

export type Tally = { created: number; updated: number; unchanged: number; stale: number }

/** Counts the verdicts of samples, added to `before`. */
export const tallyOf = (merged: Merged[], before: Tally = { created: 0, updated: 0, unchanged: 0, stale: 0 }): Tally =>
  merged.reduce(
    (sum, { changes }) => ({
      created: sum.created + changes.created.length,
      updated: sum.updated + changes.updated.length,
      unchanged: sum.unchanged + changes.unchanged,
      stale: sum.stale + changes.stale,
    }),
    before,
  )

export type Merged = { name: SeriesName; changes: Changes; batch: Batch | undefined }

type Merging = { name: SeriesName; samples: Incoming[]; holds: boolean }

/** Merges samples of one resource into the stored days, and builds the rows and the live events to write. */
export async function mergeRead(app: App, delivery: IncomingPush, { name, samples, holds }: Merging): Promise<Merged> {
  const { user, key, provider, stage, received } = delivery
  const { team_id, user_id } = user
  if (!samples.length) return { name, changes: { created: [], updated: [], stale: 0, unchanged: 0, days: 0 }, batch: undefined }
  const shelf = { team_id, user_id, resource: name, provider }
  const { changes, written } = await mergeSamples(app, key, shelf, { samples, received, holds })
  const { created, updated } = changes
  const isLive = stage === 'daily'
  const events = isLive
    ? [...sampleEvents(app, delivery, name, 'created', created), ...sampleEvents(app, delivery, name, 'updated', updated)]
    : []
  const sent = isLive ? created.length + updated.length : 0
  const state = { team_id, user_id, provider, resource: series[name].event ?? name, stage, ...spanOf(samples), sent, at: app.now() }
  return { name, changes, batch: { shelf, days: written, state, events } }
}

function spanOf(samples: Incoming[]) {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { at } of samples) {
    if (at < oldest) oldest = at
    if (at > newest) newest = at
  }
  return { oldest: isoOf(oldest), newest: isoOf(newest) }
}

/** Replaces the device of each sample by its ID. */
export async function nameDevices(app: App, delivery: IncomingPush, samples: Incoming[]) {
  const idOf = deviceIds(app, delivery)
  const known = new Map<string, string>()
  for (const sample of samples) {
    if (!sample.more) continue
    const said = `${sample.type} ${sample.more}`
    const more = known.get(said) ?? (await withDeviceId(sample, idOf))
    known.set(said, more)
    sample.more = more
  }
}

async function withDeviceId({ type, more }: Incoming, idOf: ReturnType<typeof deviceIds>) {
  const { device, ...rest } = moreOf(more) as { device?: string }
  return device ? JSON.stringify({ ...rest, device_id: await idOf(device, type) }) : more
}
