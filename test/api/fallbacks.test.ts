import { beforeAll, describe, expect, test } from 'vitest'
import { aSample, aUser, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const user = (user_id: string) => w.api.getUser({ params: { user_id } })
const zone = async (user_id: string) => (await user(user_id)).fallback_time_zone
const birth = async (user_id: string) => (await user(user_id)).fallback_birth_date

let minutes = 0
/** A sample in winter that says nothing of its zone, and a push that may. */
async function pushAt(user_id: string, provider: string, time_zone?: string, change: object = {}) {
  const start_date = new Date(Date.parse('2026-01-10T09:00:00Z') + 60_000 * ++minutes).toISOString()
  await push(w.api, user_id, 'glucose', [aSample(start_date, 5)], { provider, ...(time_zone ? { time_zone } : {}), ...change })
  const query = { start_date, end_date: start_date, provider }
  const { groups } = await w.api.listSamples({ params: { user_id, resource: 'glucose' }, query })
  return groups[provider]?.[0]?.data[0]?.timezone_offset
}

describe('the fallback time zone', () => {
  test('is what a live source says, where the customer said nothing, and serves those that know none', async () => {
    const user_id = await aUser(w.api)
    expect(await zone(user_id)).toBeNull()
    expect(await pushAt(user_id, 'wahoo')).toBeNull()
    expect(await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')).toBe(3600)
    expect(await zone(user_id)).toEqual({ id: 'Europe/Berlin', source_slug: 'apple_health_kit', updated_at: expect.any(String) })
    expect(await pushAt(user_id, 'wahoo')).toBe(3600)
  })

  test('follows the source that said it first, and no other', async () => {
    const user_id = await aUser(w.api)
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    await pushAt(user_id, 'garmin', 'Asia/Tokyo')
    expect(await zone(user_id)).toMatchObject({ id: 'Europe/Berlin', source_slug: 'apple_health_kit' })
    const { updated_at } = (await zone(user_id)) as { updated_at: string }
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await zone(user_id)).toMatchObject({ updated_at })
    await pushAt(user_id, 'apple_health_kit', 'America/New_York')
    expect(await zone(user_id)).toMatchObject({ id: 'America/New_York', source_slug: 'apple_health_kit' })
  })

  test('of the customer stays, until the customer takes it back', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await zone(user_id)).toMatchObject({ id: 'Asia/Tokyo', source_slug: 'manual' })
    expect(await pushAt(user_id, 'wahoo')).toBe(9 * 3600)
    await w.api.patchUser({ params: { user_id }, body: { fallback_time_zone: null } })
    expect(await zone(user_id)).toBeNull()
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin')
    expect(await zone(user_id)).toMatchObject({ id: 'Europe/Berlin', source_slug: 'apple_health_kit' })
    await w.api.patchUser({ params: { user_id }, body: { fallback_time_zone: 'Asia/Tokyo' } })
    expect(await zone(user_id)).toMatchObject({ id: 'Asia/Tokyo', source_slug: 'manual' })
  })

  test('is not where a user was in the past, nor what a demo makes up', async () => {
    const user_id = await aUser(w.api)
    await pushAt(user_id, 'apple_health_kit', 'Europe/Berlin', { stage: 'historical' })
    await w.api.connectDemo({ body: { user_id, provider: 'oura' } })
    expect(await user(user_id)).toMatchObject({ fallback_time_zone: null, fallback_birth_date: null })
  })

  test('never moves the clock on a wall', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    expect(await pushAt(user_id, 'abbott_libreview')).toBeNull()
    const roaming = await aUser(w.api)
    expect(await pushAt(roaming, 'freestyle_libre', 'Europe/Berlin')).toBeNull()
    expect(await zone(roaming)).toBeNull()
  })

  test('is UTC for a source that counts so', async () => {
    const user_id = await aUser(w.api)
    expect(await pushAt(user_id, 'cronometer')).toBe(0)
    const tokyo = await aUser(w.api, { fallback_time_zone: 'Asia/Tokyo' })
    expect(await pushAt(tokyo, 'cronometer')).toBe(9 * 3600)
  })
})

describe('the fallback birth date', () => {
  const profile = (user_id: string, date_of_birth: string | null, change: object = {}) =>
    pushSummary(w.api, user_id, 'profile', { date_of_birth, height: 170 }, change)

  test('is what a source says, where the customer said nothing', async () => {
    const user_id = await aUser(w.api)
    await profile(user_id, null)
    expect(await birth(user_id)).toBeNull()
    await profile(user_id, '1986-03-01')
    expect(await birth(user_id)).toEqual({ value: '1986-03-01', source_slug: 'apple_health_kit', updated_at: expect.any(String) })
    await profile(user_id, '1970-01-01', { provider: 'garmin' })
    expect(await birth(user_id)).toMatchObject({ value: '1986-03-01' })
    await profile(user_id, '1986-03-02')
    expect(await birth(user_id)).toMatchObject({ value: '1986-03-02', source_slug: 'apple_health_kit' })
  })

  test('of the customer stays, and a stale profile changes nothing', async () => {
    const user_id = await aUser(w.api, { fallback_birth_date: '1990-05-05' })
    await profile(user_id, '1986-03-01')
    expect(await birth(user_id)).toMatchObject({ value: '1990-05-05', source_slug: 'manual' })
    const other = await aUser(w.api)
    await profile(other, '1986-03-01', { modified_at: '2026-02-02T00:00:00Z' })
    await profile(other, '1986-03-09', { modified_at: '2026-02-01T00:00:00Z' })
    expect(await birth(other)).toMatchObject({ value: '1986-03-01' })
  })

  test('gives the heart rate zones of a workout whose source knows no age', async () => {
    const user_id = await aUser(w.api)
    await profile(user_id, '1986-02-01')
    await pushSummary(w.api, user_id, 'workouts', [aWorkout()], { provider: 'wahoo' })
    const workout = async () =>
      (await w.api.listWorkouts({ params: { user_id }, query: { start_date: '2026-03-01' } })).workouts[0] as {
        id: string
        hr_zones: unknown
      }
    expect((await workout()).hr_zones).toBeNull()
    const time = Array.from({ length: 61 }, (_, i) => Date.parse('2026-03-01T17:00:00Z') / 1000 + i)
    // Forty years old, so that 180 is the most and 100 is the second of six zones.
    const stream = { time, heartrate: time.map(() => 100) }
    await w.api.pushWorkoutStream({ params: { workout_id: (await workout()).id }, body: { stage: 'daily', ...stream } })
    expect((await workout()).hr_zones).toEqual([0, 60, 0, 0, 0, 0])
  })
})
