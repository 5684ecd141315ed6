import { beforeAll, describe, expect, test } from 'vitest'
import { aUser } from '../support/users.ts'
import { aWorkout, pushSummary, userEvents } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const time = [0, 1, 2, 3].map((i) => 1_772_384_400 + i)
const calm = { time, heartrate: [60, 60, 60, 60] }
const hard = { time, heartrate: [170, 170, 170, 170] }
const versions = ['2026-03-02T01:00:00Z', '2026-03-02T02:00:00Z', '2026-03-02T03:00:00Z'] as const

const windowOf = (user_id: string) => ({ params: { user_id }, query: { start_date: '2026-03-01', end_date: '2026-03-02' } })
const workoutOf = async (user_id: string) => (await w.api.listWorkouts(windowOf(user_id))).workouts[0]

async function createWorkout(workout: object = {}) {
  const user_id = await aUser(w.api, { fallback_birth_date: '1986-03-02' })
  await pushSummary(w.api, user_id, 'workouts', aWorkout(workout))
  const workout_id = (await workoutOf(user_id))?.id as string
  const push = (stream: { time: number[]; heartrate?: number[]; power?: number[] }, modified_at?: string) =>
    w.api.pushWorkoutStream({ params: { workout_id }, body: { ...stream, modified_at } })
  return { user_id, workout_id, push }
}

test('keeps the latest version of a stream in any order, even if it equals an earlier one', async () => {
  const versionedStreams = [calm, hard, calm].map((stream, i) => ({ stream, modified_at: versions[i] }))
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [2, 0, 1],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const { workout_id, push } = await createWorkout()
    for (const i of order) await push(versionedStreams[i]?.stream ?? calm, versionedStreams[i]?.modified_at)
    expect([order, (await w.api.getWorkoutStream({ params: { workout_id } })).heartrate]).toEqual([order, calm.heartrate])
  }
})

test('emits no event for a newer version of the same stream', async () => {
  const { user_id, push } = await createWorkout({ hr_zones: [1, 2, 3, 4, 5, 6] })
  for (const version of versions) await push(calm, version)
  expect((await userEvents(w.app, w.team_id, user_id)).map(({ event_type }) => event_type)).toEqual([
    'provider.connection.created',
    'daily.data.workouts.created',
    'daily.data.workout_stream.created',
  ])
})

describe('heart rate zones', () => {
  // A maximum of 181 at age 39. The last sample has no duration.
  const [below, above] = [
    [3, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 3],
  ]

  test('are removed with the heart rate they were computed from', async () => {
    const { user_id, push } = await createWorkout()
    await push(hard)
    expect((await workoutOf(user_id))?.hr_zones).toEqual(above)
    await push({ time, power: [1, 2, 3, 4] })
    expect((await workoutOf(user_id))?.hr_zones).toBeNull()
    expect((await userEvents(w.app, w.team_id, user_id)).at(-1)).toMatchObject({
      event_type: 'daily.data.workouts.updated',
      data: { hr_zones: null },
    })
  })

  test('of the source take precedence over computed ones', async () => {
    const { user_id, push } = await createWorkout({ hr_zones: [9, 9, 9, 9, 9, 9] })
    await push(calm)
    expect((await workoutOf(user_id))?.hr_zones).toEqual([9, 9, 9, 9, 9, 9])
    await pushSummary(w.api, user_id, 'workouts', aWorkout())
    expect((await workoutOf(user_id))?.hr_zones).toEqual(below)
    expect((await userEvents(w.app, w.team_id, user_id)).at(-1)?.data).toEqual(await workoutOf(user_id))
  })
})
