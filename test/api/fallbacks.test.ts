import { beforeAll, describe, expect, test } from 'vitest'
import { aUser } from '../support/users.ts'
import { aSample, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const getUser = (user_id: string) => w.api.getUser({ params: { user_id } })
const timeZone = async (user_id: string) => (await getUser(user_id)).fallback_time_zone
const birthDate = async (user_id: string) => (await getUser(user_id)).fallback_birth_date

let minutes = 0
/** Pushes a winter sample without an offset and returns the timezone_offset it is stored with. */
async function pushAt(user_id: string, provider: string, time_zone?: string, change: object = {}) {
  const start_date = new Date(Date.parse('2026-01-10T09:00:00Z') + 60_000 * ++minutes).toISOString()
  await push(w.api, user_id, 'glucose', [aSample(start_date, 5)], { provider, ...(time_zone ? { time_zone } : {}), ...change })
  const query = { start_date, end_date: start_date, provider }
  const { groups } = await w.api.listSamples({ params: { user_id, resource: 'glucose' }, query })
  return groups[provider]?.[0]?.data[0]?.timezone_offset
}

describe('the fallback time zone', () => {
  test('is learned from a live source and applied to sources without a time zone', async () => {
    const user_id = await aUser(w.api)
    expect(await timeZone(user_id)).toBeNull()
    expect(await pushAt(user_id, 'wahoo')).toBeNull()
    expect(await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')).toBe(3600)
    expect(await timeZone(user_id)).toEqual({ id: 'Europe/Berlin', source_slug: 'apple_health_kit', updated_at: expect.any(String) })
    expect(await pushAt(user_id, 'wahoo')).toBe(3600)
  })

  test('follows only the source that set it first', async () => {
    const user_id = await aUser(w.api)
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    await pushAt(user_id, 'garmin', 'Asia/Tokyo')
    expect(await timeZone(user_id)).toMatchObject({ id: 'Europe/Berlin', source_slug: 'apple_health_kit' })
    const { updated_at } = (await timeZone(user_id)) as { updated_at: string }
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await timeZone(user_id)).toMatchObject({ updated_at })
    await pushAt(user_id, 'apple_health_kit', 'America/New_York')
    expect(await timeZone(user_id)).toMatchObject({ id: 'America/New_York', source_slug: 'apple_health_kit' })
  })

  test('set by the team is kept until the team clears it', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await timeZone(user_id)).toMatchObject({ id: 'Asia/Tokyo', source_slug: 'manual' })
    expect(await pushAt(user_id, 'wahoo')).toBe(9 * 3600)
    await w.api.patchUser({ params: { user_id }, body: { fallback_time_zone: null } })
    expect(await timeZone(user_id)).toBeNull()
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await timeZone(user_id)).toMatchObject({ id: 'Europe/Berlin', source_slug: 'apple_health_kit' })
    await w.api.patchUser({ params: { user_id }, body: { fallback_time_zone: 'Asia/Tokyo' } })
    expect(await timeZone(user_id)).toMatchObject({ id: 'Asia/Tokyo', source_slug: 'manual' })
  })

  test('is not learned from historical data or a demo connection', async () => {
    const user_id = await aUser(w.api)
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin', { stage: 'historical' })
    await w.api.connectDemo({ body: { user_id, provider: 'oura' } })
    expect(await getUser(user_id)).toMatchObject({ fallback_time_zone: null, fallback_birth_date: null })
  })

  test('is neither applied to nor learned from a source with floating time', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    expect(await pushAt(user_id, 'abbott_libreview')).toBeNull()
    const other = await aUser(w.api)
    expect(await pushAt(other, 'freestyle_libre', 'Europe/Berlin')).toBeNull()
    expect(await timeZone(other)).toBeNull()
  })

  test('defaults to UTC for a source that reports UTC', async () => {
    const user_id = await aUser(w.api)
    expect(await pushAt(user_id, 'cronometer')).toBe(0)
    const tokyo = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    expect(await pushAt(tokyo, 'cronometer')).toBe(9 * 3600)
  })
})

describe('the fallback birth date', () => {
  const pushProfile = (user_id: string, date_of_birth: string | null, change: object = {}) =>
    pushSummary(w.api, user_id, 'profile', { date_of_birth, height: 170 }, change)

  test('is learned from a source and follows only that source', async () => {
    const user_id = await aUser(w.api)
    await pushProfile(user_id, null)
    expect(await birthDate(user_id)).toBeNull()
    await pushProfile(user_id, '1986-03-01')
    expect(await birthDate(user_id)).toEqual({ value: '1986-03-01', source_slug: 'apple_health_kit', updated_at: expect.any(String) })
    await pushProfile(user_id, '1970-01-01', { provider: 'garmin' })
    expect(await birthDate(user_id)).toMatchObject({ value: '1986-03-01' })
    await pushProfile(user_id, '1986-03-02')
    expect(await birthDate(user_id)).toMatchObject({ value: '1986-03-02', source_slug: 'apple_health_kit' })
  })

  test('set by the team is kept, and a stale profile is ignored', async () => {
    const user_id = await aUser(w.api, { fallback_birth_date: '1990-05-05' })
    await pushProfile(user_id, '1986-03-01')
    expect(await birthDate(user_id)).toMatchObject({ value: '1990-05-05', source_slug: 'manual' })
    const other = await aUser(w.api)
    await pushProfile(other, '1986-03-01', { modified_at: '2026-02-02T00:00:00Z' })
    await pushProfile(other, '1986-03-09', { modified_at: '2026-02-01T00:00:00Z' })
    expect(await birthDate(other)).toMatchObject({ value: '1986-03-01' })
  })

  test('determines the heart rate zones of a workout from a source without an age', async () => {
    const user_id = await aUser(w.api)
    await pushProfile(user_id, '1986-02-01')
    await pushSummary(w.api, user_id, 'workouts', [aWorkout()], { provider: 'wahoo' })
    const workout = async () =>
      (await w.api.listWorkouts({ params: { user_id }, query: { start_date: '2026-03-01' } })).workouts[0] as {
        id: string
        hr_zones: unknown
      }
    expect((await workout()).hr_zones).toBeNull()
    const time = Array.from({ length: 61 }, (_, i) => Date.parse('2026-03-01T17:00:00Z') / 1000 + i)
    // At age 40 the maximum heart rate is 180, so 100 falls into the second of six zones.
    const stream = { time, heartrate: time.map(() => 100) }
    await w.api.pushWorkoutStream({ params: { workout_id: (await workout()).id }, body: { stage: 'daily', ...stream } })
    expect((await workout()).hr_zones).toEqual([0, 60, 0, 0, 0, 0])
  })
})
