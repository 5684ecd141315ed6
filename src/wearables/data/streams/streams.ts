import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { openBytes, type SealingKey, sealBytes } from '../../../platform/sealing/seal.ts'
import { getUser, requireUser, unwrapUserKey } from '../../../tenants/users/actions.ts'
import { endBackfill } from '../backfill.ts'
import { emitData, presentSource } from '../emit.ts'
import { checkVersion } from '../incoming-push.ts'
import { samplePresenter } from '../rules-present.ts'
import { readAll, shelfFor } from '../samples/read.ts'
import * as states from '../store-states.ts'
import type { SummaryDocument } from '../summaries/rules-merge-summary.ts'
import { changeDerived, openSummary } from '../summaries/save-summaries.ts'
import * as summaries from '../summaries/store-summaries.ts'
import { heartZones, highestHeartRate, readStream, type Stream } from './rules-stream.ts'
import * as store from './store-streams.ts'

type Sent = Parameters<typeof readStream>[0] & { stage: 'daily' | 'historical'; modified_at?: string | null | undefined }

type Whose = Pick<TeamCaller, 'team_id'>

export const pushWorkoutStream = (app: App, caller: Whose, workout_id: string, { stage, modified_at, ...stream }: Sent) =>
  inTransaction(app, async (app) => {
    await pushStreams(app, caller, { stage, modified_at }, [{ workout_id, stream }])
    return { success: true, workout_id }
  })

type About = Pick<Sent, 'stage' | 'modified_at'> & { window?: Window }
type Window = { start: string; end: string }
type SentStream = { workout_id: string; stream: Parameters<typeof readStream>[0] }

/** Stores workout streams of one user. Emits one event per live stream, or one event for a backfill. */
export const pushStreams = (app: App, caller: Whose, { stage, modified_at, window }: About, sent: SentStream[]) =>
  inTransaction(app, async (app) => {
    checkVersion(modified_at, Date.parse(app.now()))
    const version = modified_at ? Date.parse(modified_at) : null
    const read = new Map(sent.map(({ workout_id, stream }) => [workout_id, readStream(stream, Date.parse(app.now()))]))
    const workouts = await workoutsOf(app, caller.team_id, [...read.keys()])
    const stored = new Map((await store.findStreams(app.db, caller.team_id, [...read.keys()])).map((row) => [row.workout_id, row]))
    const streams = workouts.map((workout) => {
      const { id } = workout.row
      return { workout, ...mergeStream(app, workout, stored.get(id), read.get(id) as Stream, version) }
    })
    await store.upsertStreams(
      app.db,
      streams.flatMap(({ written }) => written ?? []),
    )
    const news = streams.filter(({ verb }) => verb)
    for (const { workout, verb } of news) if (verb && stage === 'daily') await emitStream(app, workout, verb)
    await deriveZones(app, caller, news, stage)
    const taken = news.map(({ workout }) => workout)
    await noteStreams(app, taken, stage, window)
  })

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
  if (stored && !wins({ text, version }, { text: before as string, version: stored.version })) return { stream }
  const now = app.now()
  const written = {
    ...{ workout_id, team_id, user_id, created_at: now, updated_at: now },
    version: version ?? Math.max(Date.parse(app.wall()), stored?.version ?? 0),
    sealed: sealStream(key, workout_id, text),
  }
  return { stream, verb, written }
}

type Version<V> = { text: string; version: V }

function wins(sent: Version<number | null>, there: Version<number>) {
  if (sent.version === null) return sent.text !== there.text
  return sent.version > there.version || (sent.version === there.version && sent.text > there.text)
}

/** Decrypts a stream to JSON text. */
export const openStream = (key: SealingKey, id: string, sealed: Buffer) =>
  inflateRawSync(openBytes(key, associatedData(id), sealed)).toString()

export const sealStream = (key: SealingKey, id: string, text: string) => sealBytes(key, associatedData(id), deflateRawSync(text))

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

async function noteStreams(app: AppInTransaction, taken: Workout[], stage: Sent['stage'], read: Window | undefined) {
  const [first] = taken
  if (!first) return
  const moments = (field: string) => taken.map(({ document }) => document.fields[field] as string).sort()
  const [starts, ends] = [moments('time_start'), moments('time_end')]
  const [oldest, newest] = [starts[0] as string, starts.at(-1) as string]
  const window = read ?? { start: oldest, end: ends.at(-1) as string }
  const days = new Set(taken.map(({ row }) => row.calendar_date)).size
  if (stage === 'historical') await endBackfill(app, { ...first, window }, [{ resource: RESOURCE, created: taken, updated: [], days }])
  const { team_id, user_id, provider } = first.row
  const sent = stage === 'daily' ? taken.length : 0
  await states.noteReceived(app.db, { team_id, user_id, provider, resource: RESOURCE, stage, oldest, newest, sent, at: app.now() })
}

type News = { workout: Workout; stream: Stream }

/** Computes heart rate zones from the stream and the age, for workouts whose source sent none. */
async function deriveZones(app: AppInTransaction, caller: Whose, news: News[], stage: Sent['stage']) {
  const [first] = news
  const birth = first && (await birthOf(app, caller, first.workout))
  const changes = news.flatMap(({ workout, stream }) => {
    const { row, document } = workout
    const hr_zones = birth && heartZones(stream, highestHeartRate(birth, row.calendar_date))
    const derived = hr_zones ? { hr_zones } : {}
    return JSON.stringify(document.derived ?? {}) === JSON.stringify(derived) ? [] : { ...workout, derived }
  })
  await changeDerived(app, changes, stage)
}

async function birthOf(app: App, caller: Whose, { row, key }: Workout) {
  const { team_id, user_id, provider } = row
  const profile = await summaries.latestSummary(app.db, { team_id, user_id, resource: 'profile', provider })
  const known = profile && (openSummary(key, profile).fields['birth_date'] as string | null)
  return known ?? (await getUser(app, caller, user_id)).fallback_birth_date?.value
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

const recorded = ['hrv', 'heartrate', 'hypnogram', 'respiratory_rate'] as const

/** Returns the samples that the source of a sleep recorded during it. */
export async function getSleepStream(app: App, { team_id }: TeamCaller, sleep_id: string) {
  const sleep = await summaries.findSummary(app.db, team_id, 'sleep', sleep_id)
  if (!sleep) throw problem('SLEEP_NOT_FOUND', 'No such sleep in this team.')
  const { user_id, provider } = sleep
  const key = await unwrapUserKey(app, await requireUser(app, team_id, user_id))
  const { bedtime_start, bedtime_stop } = openSummary(key, sleep).fields as SummaryDocument['fields'] & Record<string, string>
  const range = { from: Date.parse(bedtime_start as string), to: Date.parse(bedtime_stop as string) }
  const read = async (name: (typeof recorded)[number]) => {
    const shelf = shelfFor({ team_id, user_id, provider, range, key }, name)
    return (await readAll(app, shelf)).map(samplePresenter(shelf.row))
  }
  const [hrv, heartrate, hypnogram, respiratory_rate] = await Promise.all(recorded.map(read))
  return { user_id, hrv: hrv ?? [], heartrate: heartrate ?? [], hypnogram: hypnogram ?? [], respiratory_rate: respiratory_rate ?? [] }
}
