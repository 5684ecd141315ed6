import { z } from 'zod'
import { Id } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { personal } from '../personal.ts'
import { ModifiedAt, pushed, SampleOut, wearable } from './wearables.ts'

/** What a stream of a workout has beside its time, and between what it lies. */
export const channels = {
  cadence: [0, 1000],
  altitude: [-1000, 100_000],
  velocity_smooth: [0, 1000],
  heartrate: [0, 500],
  lat: [-90, 90],
  lng: [-180, 180],
  distance: [0, 10_000_000],
  power: [0, 10_000],
  resistance: [0, 1000],
  temperature: [-100, 100],
} as const satisfies Record<string, readonly [number, number]>

export type Channel = keyof typeof channels
export const channelNames = Object.keys(channels) as Channel[]

const MOST = 200_000

const sent = ([least, most]: readonly [number, number]) =>
  z.array(z.number().min(least).max(most).nullable()).max(MOST, 'Must have at most 200,000 values.').nullish()

const NewStream = z
  .object({
    stage: pushed.stage,
    modified_at: ModifiedAt,
    time: z
      .array(z.int().min(-2_208_988_800).max(7_258_118_400))
      .min(1)
      .max(MOST, 'Must have at most 200,000 values.')
      .describe('Unix seconds.'),
    ...(Object.fromEntries(channelNames.map((name) => [name, sent(channels[name])])) as Record<Channel, ReturnType<typeof sent>>),
  })
  .meta({ id: 'NewWorkoutStream' })

const list = z.array(z.number().nullable())
const place = z.array(personal(z.number()).nullable())

const Stream = z
  .object({
    time: z.array(z.int()).describe('Unix seconds.'),
    ...(Object.fromEntries(channelNames.map((name) => [name, list])) as Record<Channel, typeof list>),
    lat: place,
    lng: place,
  })
  .describe('Lists of the same length, null where nothing was measured; empty where nothing ever was.')
  .meta({ id: 'WorkoutStream' })

const samples = z.array(SampleOut)

const unknownWorkout = { 404: 'No such workout in this team, or it has no stream.' }

export const streamEndpoints = {
  pushWorkoutStream: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/timeseries/workouts/{workout_id}/stream',
    summary: 'Push the stream of a workout',
    subjects: { workout_id: 'path.workout_id' },
    description:
      'Lists of the same length, one value for each time. The latest version replaces the others. Where the workout has no heart rate zones and a birth date is known, they follow from the stream.',
    largeBody: true,
    params: z.object({ workout_id: Id }),
    body: NewStream,
    returns: z.object({ success: z.boolean(), workout_id: Id }),
    refusals: { ...unknownWorkout, 413: 'The body is too large.' },
  }),
  getWorkoutStream: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/workouts/{workout_id}/stream',
    summary: 'Read the stream of a workout',
    subjects: { user_id: 'result.user_id', workout_id: 'path.workout_id' },
    params: z.object({ workout_id: Id }),
    returns: Stream,
    refusals: unknownWorkout,
  }),
  getSleepStream: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/sleep/{sleep_id}/stream',
    summary: 'Read what was recorded during a sleep',
    subjects: { user_id: 'result.user_id', sleep_id: 'path.sleep_id' },
    description: 'Samples of the same source between the beginning and the end of the sleep.',
    params: z.object({ sleep_id: Id }),
    returns: z.object({ hrv: samples, heartrate: samples, hypnogram: samples, respiratory_rate: samples }).meta({ id: 'SleepStream' }),
    refusals: { 404: 'No such sleep in this team.' },
  }),
}
