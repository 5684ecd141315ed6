import { z } from 'zod'
import { Id } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { personal } from '../personal.ts'
import { ModifiedAt, pushFields, SampleOut, wearable } from './wearables.ts'

/** The channels of a workout stream besides time, with their lowest and highest values. */
const channels = {
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

export const MAX_STREAM_VALUES = 200_000

const channelIn = ([least, most]: readonly [number, number]) =>
  z.array(z.number().min(least).max(most).nullable()).max(MAX_STREAM_VALUES, 'Must have at most 200,000 values.').nullish()

const NewStream = z
  .object({
    stage: pushFields.stage,
    modified_at: ModifiedAt,
    time: z
      .array(z.int().min(-2_208_988_800).max(7_258_118_400))
      .min(1)
      .max(MAX_STREAM_VALUES, 'Must have at most 200,000 values.')
      .describe('Seconds since 1970.'),
    ...(Object.fromEntries(channelNames.map((name) => [name, channelIn(channels[name])])) as Record<Channel, ReturnType<typeof channelIn>>),
  })
  .meta({ id: 'NewWorkoutStream' })

const list = z.array(z.number().nullable())
const coordinates = z.array(personal(z.number()).nullable())

const Stream = z
  .object({
    time: z.array(z.int()).describe('Seconds since 1970.'),
    ...(Object.fromEntries(channelNames.map((name) => [name, list])) as Record<Channel, typeof list>),
    lat: coordinates,
    lng: coordinates,
  })
  .describe('Lists of equal length. A value is null if nothing was measured then. A list is empty if the channel was never measured.')
  .meta({ id: 'WorkoutStream' })

const samples = z.array(SampleOut)

const unknownWorkout = { 404: 'No such workout in this team, or it has no stream.' }

export const streamEndpoints = {
  pushWorkoutStream: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/timeseries/workouts/{workout_id}/stream',
    summary: 'Push a workout stream',
    subjects: { workout_id: 'path.workout_id' },
    description:
      'Send lists of equal length, with one value for each time. The latest version replaces earlier ones. If the workout has no heart rate zones and the birth date is known, Assay computes them from the stream.',
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
    summary: 'Get a workout stream',
    subjects: { user_id: 'result.user_id', workout_id: 'path.workout_id' },
    params: z.object({ workout_id: Id }),
    returns: Stream,
    refusals: unknownWorkout,
  }),
  getSleepStream: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/sleep/{sleep_id}/stream',
    summary: 'Get a sleep stream',
    subjects: { user_id: 'result.user_id', sleep_id: 'path.sleep_id' },
    description: 'Returns the samples that the source recorded during the sleep session.',
    params: z.object({ sleep_id: Id }),
    returns: z.object({ hrv: samples, heartrate: samples, hypnogram: samples, respiratory_rate: samples }).meta({ id: 'SleepStream' }),
    refusals: { 404: 'No such sleep session in this team.' },
  }),
}
