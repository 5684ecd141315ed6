import { type App, inTransaction, type TeamCaller, told } from '../app.ts'
import { noteDevice } from '../connections/devices.ts'
import { type SeriesName, series, seriesNamed } from '../contract/series.ts'
import { endBackfill } from './backfill.ts'
import { type Changes, mergeSamples, writeSamples } from './days.ts'
import { connect, type Delivery, openDelivery, type Pushed, within } from './delivery.ts'
import type { Incoming } from './rules-merge.ts'
import { checkSpread, readSamples } from './rules-samples.ts'
import { isoOf, moreOf } from './rules-show.ts'
import { sampleEvents } from './tell.ts'

/** Takes in samples that were pushed: all of them or none. */
export async function pushSamples(
  app: App,
  caller: Pick<TeamCaller, 'team_id'>,
  user_id: string,
  resource: string,
  { data, ...pushed }: Pushed & { data: unknown[] },
) {
  const delivery = await openDelivery(app, caller, user_id, pushed)
  const read = readDelivered(delivery, seriesNamed(resource), data)
  return inTransaction(app, async (app) => {
    await connect(app, delivery)
    const [tally] = await keepDelivered(app, delivery, [read])
    return tally as ReturnType<typeof taken>
  })
}

type Read = { name: SeriesName; kept: Incoming[]; received: number; dropped: number }

/** Samples that were checked; those outside the user's ingestion bounds are left out. */
export function readDelivered(delivery: Delivery, name: SeriesName, data: unknown[]): Read {
  const samples = readSamples(series[name], data, { ...delivery, loc: ['body', 'data'] })
  checkSpread(series[name], samples)
  const isWithin = within(delivery)
  const kept = samples.filter(({ at }) => isWithin(at))
  return { name, kept, received: data.length, dropped: samples.length - kept.length }
}

/** Keeps what was read, resource by resource; where it is the past of them, that is told in the end. */
export async function keepDelivered(app: App, delivery: Delivery, reads: Read[]) {
  const found: (Read & { changes: Changes })[] = []
  for (const read of reads) found.push({ ...read, changes: await takeSamples(app, delivery, read.name, read.kept) })
  const past = found.map(({ name, changes }) => ({ resource: series[name].event ?? name, ...changes }))
  if (delivery.stage === 'historical') await endBackfill(app, delivery, past)
  return found.map(({ received, dropped, changes }) => taken(received, dropped, changes))
}

/** What a push came to. */
export const taken = (received: number, dropped: number, { created, updated, unchanged, stale }: Tally) => ({
  ...{ success: true, received, dropped },
  created: sizeOf(created),
  updated: sizeOf(updated),
  ...{ unchanged, stale },
})

type Tally = { created: unknown[] | number; updated: unknown[] | number; unchanged: number; stale: number }
const sizeOf = (some: unknown[] | number) => (typeof some === 'number' ? some : some.length)

/** Keeps samples of one resource and, if they are live, tells of what is new in them. */
export async function takeSamples(app: App, delivery: Delivery, name: SeriesName, samples: Incoming[]): Promise<Changes> {
  const { user, key, provider, stage, received } = delivery
  if (!samples.length) return { created: [], updated: [], stale: 0, unchanged: 0, days: 0 }
  await nameDevices(app, delivery, samples)
  const shelf = { team_id: user.team_id, user_id: user.user_id, resource: name, provider }
  const { changes, written } = await mergeSamples(app, key, shelf, samples, received)
  const { created, updated } = changes
  const isLive = stage === 'daily'
  const events = isLive
    ? [...sampleEvents(app, delivery, name, 'created', created), ...sampleEvents(app, delivery, name, 'updated', updated)]
    : []
  const sent = isLive ? created.length + updated.length : 0
  const state = { resource: series[name].event ?? name, ...spanOf(samples), sent, at: app.now() }
  told(app, await writeSamples(app, shelf, written, state, events))
  return changes
}

function spanOf(samples: Incoming[]) {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { at } of samples) {
    if (at < oldest) oldest = at
    if (at > newest) newest = at
  }
  return { oldest: isoOf(oldest), newest: isoOf(newest) }
}

/** A device that samples name gets an id, and they carry that instead of its name. */
async function nameDevices(app: App, { user, provider }: Delivery, samples: Incoming[]) {
  const known = new Map<string, string>([['', '']])
  for (const sample of samples) {
    let more = known.get(sample.more)
    if (more === undefined) {
      const { device, ...rest } = moreOf(sample.more) as { device?: string }
      const device_id = device && (await noteDevice(app, user, provider, { source_type: sample.type || 'unknown', device_model: device }))
      more = device_id ? JSON.stringify({ ...rest, device_id }) : sample.more
      known.set(sample.more, more)
    }
    sample.more = more
  }
}
