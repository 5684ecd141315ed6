import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { deflateRaw, inflateRaw } from '../../../platform/sealing/deflate.ts'
import { openBytes, type SealingKey, sealBytes } from '../../../platform/sealing/seal.ts'
import { presentUser, requireUser, unwrapUserKey } from '../../../tenants/users/actions.ts'
import { endBackfill } from '../backfill.ts'
import { emitData, presentSource } from '../emit.ts'
import { checkVersion, type IncomingPush } from '../incoming-push.ts'
import { samplePresenter } from '../rules-present.ts'
import { queryFor, readAll } from '../samples/read.ts'
import * as states from '../store-states.ts'
import type { SummaryDocument } from '../summaries/rules-merge-summary.ts'
import { summaryId } from '../summaries/rules-summary.ts'
import { changeDerived, openSummary } from '../summaries/save-summaries.ts'
import * as summaries from '../summaries/store-summaries.ts'
import { heartZones, maxHeartRate, readStream, type Stream } from './rules-stream.ts'
import * as store from './store-streams.ts'

type StreamPush = Parameters<typeof readStream>[0] & { stage: 'daily' | 'historical'; modified_at?: string | null | undefined }

type TeamScope = Pick<TeamCaller, 'team_id'>

export const pushWorkoutStream = (app: App, caller: TeamScope, workout_id: string, { stage, modified_at, ...stream }: StreamPush) =>
  inTransaction(app, async (app) => {
    await pushStreams(app, caller, { stage, modified_at }, [{ workout_id, stream }])
    return { success: true, workout_id }
  })

type PushOptions = Pick<StreamPush, 'stage' | 'modified_at'> & { window?: Window | undefined; pull?: IncomingPush['pull'] }
type Window = { start: string; end: string }
type NewStream = { workout_id: string; stream: Parameters<typeof readStream>[0] }

/** Stores workout streams of one user. Emits one event per live stream, or one event for a backfill. */
export const pushStreams = (app: App, caller: TeamScope, { stage, modified_at, window, pull }: PushOptions, newStreams: NewStream[]) =>
  inTransaction(app, async (app) => {
    checkVersion(modified_at, Date.parse(app.now()))
    const version = modified_at ? Date.parse(modified_at) : null
    const parsed = new Map(newStreams.map(({ workout_id, stream }) => [workout_id, readStream(stream, Date.parse(app.now()))]))
    const workouts = await workoutsOf(app, caller.team_id, [...parsed.keys()])
    const stored = new Map((await store.findStreams(app.db, caller.team_id, [...parsed.keys()])).map((row) => [row.workout_id, row]))
    const streams = workouts.map((workout) => {
      const { id } = workout.row
      return { workout, ...mergeStream(app, workout, stored.get(id), parsed.get(id) as Stream, version) }
    })
    await store.upsertStreams(
      app.db,
      streams.flatMap(({ written }) => written ?? []),
    )
    const changed = streams.filter(({ verb }) => verb)
    for (const { workout, verb } of changed) if (verb && stage === 'daily') await emitStream(app, workout, verb)
    await deriveZones(app, changed, stage)
    const changedWorkouts = changed.map(({ workout }) => workout)
    await recordStreams(app, changedWorkouts, stage, { window, pull })
  })

type PulledStream = NewStream['stream'] & { workout: string }

/** Stores the streams of pulled workouts. A workout that was not stored has none. */
export async function saveStreams(app: App, push: IncomingPush, pulled: PulledStream[]) {
  const { user, provider, stage, pull, window } = push
  if (!pulled.length) return
  const streams = pulled.map(({ workout, ...stream }) => ({ workout_id: summaryId(user.user_id, provider, 'workouts', workout), stream }))
  const ids = streams.map(({ workout_id }) => workout_id)
  const known = new Set((await summaries.findSummaries(app.db, user.team_id, ids)).map(({ id }) => id))
  const options = { stage, pull, window: { start: window.start as string, end: window.end as string } }
  const found = streams.filter(({ workout_id }) => known.has(workout_id))
  if (found.length) await pushStreams(app, user, options, found)
}

type Workout = Awaited<ReturnType<typeof workoutsOf>>[number]

/** Locks the workouts, so that two streams of one workout are stored one after the other. */
async function workoutsOf(app: App, team_id: string, ids: string[]) {
  const rows = (await summaries.lockSummaries(app.db, team_id, ids)).filter(({ resource }) => resource === 'workouts')
  const [first] = rows
  if (rows.length < ids.length) throw problem('WORKOUT_NOT_FOUND', 'No such workout in this team. Push the workout before its stream.')
  if (!first) return []
  const user = await requireUser(app, team_id, first.user_id)
  const key = await unwrapUserKey(app, user)
  return rows.map((row) => ({ row, user, key, provider: row.provider as SourceSlug, document: openSummary(key, row) }))
}

/** The latest version wins; equal versions are ordered by content. Without a change there is no `verb`. */
function mergeStream(app: App, { row, key }: Workout, stored: store.StreamRow | undefined, stream: Stream, version: number | null) {
  const { id: workout_id, team_id, user_id } = row
  const text = JSON.stringify(stream)
  const before = stored && openStream(key, workout_id, stored.sealed)
  const verb = before === text ? undefined : stored ? ('updated' as const) : ('created' as const)
  if (stored && !replaces({ text, version }, { text: before as string, version: stored.version })) return { stream }
  const now = app.now()
  const written = {
    ...{ workout_id, team_id, user_id, created_at: now, updated_at: now },
    version: version ?? Math.max(Date.parse(app.wall()), stored?.version ?? 0),
    sealed: sealStream(key, workout_id, text),
  }
  return { stream, verb, written }
}

type Version<V> = { text: string; version: V }

function replaces(next: Version<number | null>, existing: Version<number>) {
  if (next.version === null) return next.text !== existing.text
  return next.version > existing.version || (next.version === existing.version && next.text > existing.text)
}

/** Decrypts a stream to JSON text. */
export const openStream = (key: SealingKey, id: string, sealed: Buffer) => inflateRaw(openBytes(key, associatedData(id), sealed)).toString()

export const sealStream = (key: SealingKey, id: string, text: string) => sealBytes(key, associatedData(id), deflateRaw(Buffer.from(text)))

const associatedData = (workout_id: string) => `workout_streams.sealed.${workout_id}`

const RESOURCE = 'workout_stream'

async function emitStream(app: AppInTransaction, workout: Workout, verb: 'created' | 'updated') {
  const { row, provider, document } = workout
  const { fields, source_type, app_id, device_id } = document
  await emitData(app, workout, RESOURCE, `daily.data.workout_stream.${verb}`, {
    ...{ workout_id: row.id, provider_id: fields['provider_id'], sport: fields['sport'] },
    message: 'A stream is too large for an event; read it at /v2/timeseries/workouts/{workout_id}/stream.',
    source: presentSource(app, provider, { type: source_type, app_id, device_id }),
  })
}

async function recordStreams(
  app: AppInTransaction,
  changedWorkouts: Workout[],
  stage: StreamPush['stage'],
  { window: pulled, pull }: Pick<PushOptions, 'window' | 'pull'>,
) {
  const [first] = changedWorkouts
  if (!first) return
  const sortedTimes = (field: string) => changedWorkouts.map(({ document }) => document.fields[field] as string).sort()
  const [starts, ends] = [sortedTimes('time_start'), sortedTimes('time_end')]
  const [oldest, newest] = [starts[0] as string, starts.at(-1) as string]
  const window = pulled ?? { start: oldest, end: ends.at(-1) as string }
  const days = new Set(changedWorkouts.map(({ row }) => row.calendar_date)).size
  if (stage === 'historical')
    await endBackfill(app, { ...first, window, pull }, [{ resource: RESOURCE, created: changedWorkouts, updated: [], days }])
  const { team_id, user_id, provider } = first.row
  const sent = stage === 'daily' ? changedWorkouts.length : 0
  await states.recordReceived(app.db, {
    ...{ team_id, user_id, provider, resource: RESOURCE, stage, at: app.now() },
    ...{ oldest, newest, sent },
  })
}

type ChangedStream = { workout: Workout; stream: Stream }

/** Computes heart rate zones from the stream and the age, for workouts whose source sent none. */
async function deriveZones(app: AppInTransaction, changed: ChangedStream[], stage: StreamPush['stage']) {
  const [first] = changed
  const birth = first && (await birthDateOf(app, first.workout))
  const changes = changed.flatMap(({ workout, stream }) => {
    const { row, document } = workout
    const hr_zones = birth && heartZones(stream, maxHeartRate(birth, row.calendar_date))
    const derived = hr_zones ? { hr_zones } : {}
    return JSON.stringify(document.derived ?? {}) === JSON.stringify(derived) ? [] : { ...workout, derived }
  })
  await changeDerived(app, changes, stage)
}

async function birthDateOf(app: App, { row, key }: Workout) {
  const { team_id, user_id, provider } = row
  const profile = await summaries.findLatestSummary(app.db, { team_id, user_id, resource: 'profile', provider })
  const birthDate = profile && (openSummary(key, profile).fields['birth_date'] as string | null)
  return birthDate ?? (await presentUser(app, await requireUser(app, team_id, user_id))).fallback_birth_date?.value
}

export async function getWorkoutStream(app: App, { team_id }: TeamCaller, workout_id: string) {
  const workout = await summaries.findSummary(app.db, team_id, 'workouts', workout_id)
  if (!workout) throw problem('WORKOUT_NOT_FOUND', 'No such workout in this team.')
  const [row] = await store.findStreams(app.db, team_id, [workout_id])
  if (!row)
    throw problem(
      'WORKOUT_STREAM_NOT_FOUND',
      'The workout has no stream yet. Assay emits daily.data.workout_stream.created when one arrives.',
    )
  const key = await unwrapUserKey(app, await requireUser(app, team_id, workout.user_id))
  return { user_id: workout.user_id, ...(JSON.parse(openStream(key, workout_id, row.sealed)) as Stream) }
}

const sleepSeries = ['hrv', 'heartrate', 'hypnogram', 'respiratory_rate'] as const

/** Returns the samples that the source of a sleep recorded during it. */
export async function getSleepStream(app: App, { team_id }: TeamCaller, sleep_id: string) {
  const sleep = await summaries.findSummary(app.db, team_id, 'sleep', sleep_id)
  if (!sleep)
    throw problem(
      'SLEEP_NOT_FOUND',
      'The team has no sleep session with this ID. GET /v2/summary/sleep/{user_id} lists the sessions of a user.',
    )
  const { user_id, provider } = sleep
  const key = await unwrapUserKey(app, await requireUser(app, team_id, user_id))
  const { bedtime_start, bedtime_stop } = openSummary(key, sleep).fields as SummaryDocument['fields'] & Record<string, string>
  const range = { from: Date.parse(bedtime_start as string), to: Date.parse(bedtime_stop as string) }
  const read = async (name: (typeof sleepSeries)[number]) => {
    const query = queryFor({ team_id, user_id, provider, range, key }, name)
    return (await readAll(app, query)).map(samplePresenter(query.row))
  }
  const [hrv, heartrate, hypnogram, respiratory_rate] = await Promise.all(sleepSeries.map(read))
  return { user_id, hrv: hrv ?? [], heartrate: heartrate ?? [], hypnogram: hypnogram ?? [], respiratory_rate: respiratory_rate ?? [] }
}
