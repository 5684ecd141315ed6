import { beforeAll, describe, expect, test } from 'vitest'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { aNight, aSample, aWorkout, push, pushSummary, userEvents } from '../support/wearables.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const window = { start_date: '2026-02-01', end_date: '2026-03-31' }
const tally = { success: true, received: 1, created: 0, updated: 0, unchanged: 0, stale: 0, dropped: 0 }
const daily = async (user_id: string) =>
  (await userEvents(w.app, w.team_id, user_id)).filter(({ event_type }) => !event_type.startsWith('provider'))
const typesOf = (events: { event_type: string }[]) => events.map(({ event_type }) => event_type)

describe('activity', () => {
  const day = {
    date: '2026-03-01',
    active_energy_burned_sum: 400,
    basal_energy_burned_sum: 1600.5,
    steps_sum: 9120,
    distance_sum: 7000,
    floors_climbed_sum: 6,
    low: 140,
    medium: 31,
    high: 18,
  }

  test('is returned in the public format, and events match reads', async () => {
    const user_id = await aUser(w.api)
    expect(
      await pushSummary(w.api, user_id, 'activity', { day_summary: day, source_type: 'watch' }, { time_zone: 'Europe/Berlin' }),
    ).toEqual({ ...tally, created: 1 })
    const { activity } = await w.api.listActivity({ params: { user_id }, query: window })
    expect(activity).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        user_id,
        calendar_date: '2026-03-01',
        date: '2026-03-01T00:00:00.000Z',
        time_zone: 'Europe/Berlin',
        timezone_offset: 3600,
        calories_active: 400,
        calories_total: 2000.5,
        steps: 9120,
        distance: 7000,
        daily_movement: 7000,
        floors_climbed: 6,
        low: 140,
        medium: 31,
        high: 18,
        heart_rate: null,
        wheelchair_use: null,
        wheelchair_push: null,
        source: expect.objectContaining({
          provider: 'apple_health_kit',
          slug: 'apple_health_kit',
          type: 'watch',
          app_id: null,
          device_id: null,
        }),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    expect(await daily(user_id)).toEqual([{ event_type: 'daily.data.activity.created', data: activity[0] }])
  })

  test('is replaced by its ID when it changes, and an equal push is not an update', async () => {
    const user_id = await aUser(w.api)
    await pushSummary(w.api, user_id, 'activity', { day_summary: day })
    expect(await pushSummary(w.api, user_id, 'activity', { day_summary: day })).toMatchObject({ unchanged: 1 })
    expect(await pushSummary(w.api, user_id, 'activity', [{ day_summary: { ...day, steps_sum: 9999 } }])).toMatchObject({ updated: 1 })
    const { activity } = await w.api.listActivity({ params: { user_id }, query: window })
    expect(activity).toMatchObject([{ steps: 9999 }])
    const events = await daily(user_id)
    expect(typesOf(events)).toEqual(['daily.data.activity.created', 'daily.data.activity.updated'])
    expect(events[1]?.data).toEqual(activity[0])
    expect(events[0]?.data['id']).toBe(events[1]?.data['id'])
  })

  test('keeps the latest version, whatever order the versions arrive in', async () => {
    const versions = [1, 2, 3].map((hour) => ({ day_summary: { ...day, steps_sum: hour }, modified_at: `2026-03-01T0${hour}:00:00Z` }))
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [2, 0, 2, 1, 0],
    ]) {
      const user_id = await aUser(w.api)
      for (const i of order) await pushSummary(w.api, user_id, 'activity', versions[i])
      expect((await w.api.listActivity({ params: { user_id }, query: window })).activity).toMatchObject([{ steps: 3 }])
    }
  })

  test('stores the samples it contains', async () => {
    const user_id = await aUser(w.api)
    const steps = [aSample('2026-03-01T09:00:00Z', 40, { unit: 'count', end_date: '2026-03-01T10:00:00Z', type: 'watch' })]
    expect(await pushSummary(w.api, user_id, 'activity', { day_summary: day, steps })).toMatchObject({ created: 2 })
    const { groups } = await w.api.listSamples({ params: { user_id, resource: 'steps' }, query: window })
    expect(groups['apple_health_kit']?.[0]?.data).toMatchObject([{ value: 40, type: 'watch' }])
    expect(typesOf(await daily(user_id))).toEqual(['daily.data.activity.created', 'daily.data.steps.created'])
  })

  test('belongs to the date that the source gives, whatever the time zone', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Pacific/Auckland' })
    await pushSummary(w.api, user_id, 'activity', { day_summary: { ...day, date: '2026-03-01T23:30:00-10:00' } })
    const on = async (start_date: string, end_date: string) =>
      (await w.api.listActivity({ params: { user_id }, query: { start_date, end_date } })).activity.length
    expect([
      await on('2026-03-01', '2026-03-01'),
      await on('2026-03-02', '2026-03-03'),
      await on('2026-03-01T20:00:00Z', '2026-03-01T21:00:00Z'),
    ]).toEqual([1, 0, 1])
  })
})

describe('sleep', () => {
  test('sums its stages, belongs to the wake-up date and creates a cycle and a hypnogram', async () => {
    const user_id = await aUser(w.api)
    expect(await pushSummary(w.api, user_id, 'sleep', [aNight()])).toEqual({ ...tally, created: 6 })
    const { sleep } = await w.api.listSleep({ params: { user_id }, query: window })
    expect(sleep).toEqual([
      expect.objectContaining({
        calendar_date: '2026-03-02',
        bedtime_start: '2026-03-01T22:00:00.000Z',
        bedtime_stop: '2026-03-02T06:00:00.000Z',
        timezone_offset: 3600,
        type: 'long_sleep',
        duration: 28_800,
        total: 27_600,
        awake: 1200,
        light: 14_400,
        deep: 6000,
        rem: 7200,
        efficiency: 95.8,
        latency: 1200,
        hr_average: 54,
        hr_lowest: 47,
        average_hrv: 61.5,
        respiratory_rate: 13.2,
      }),
    ])
    const { sleep_cycle } = await w.api.listSleepCycles({ params: { user_id }, query: window })
    expect(sleep_cycle).toEqual([
      expect.objectContaining({
        sleep_id: sleep[0]?.id,
        session_start: '2026-03-01T22:00:00.000Z',
        session_end: '2026-03-02T06:00:00.000Z',
        stage_start_offset_second: [0, 1200, 15_600, 21_600],
        stage_end_offset_second: [1200, 15_600, 21_600, 28_800],
        stage_type: [4, 2, 1, 3],
        source_provider: 'apple_health_kit',
        source_type: 'watch',
      }),
    ])
    expect(typesOf(await daily(user_id))).toEqual(['daily.data.sleep.created', 'daily.data.sleep_cycle.created'])
  })

  test('has a stream of the samples that its source recorded that night', async () => {
    const user_id = await aUser(w.api)
    await pushSummary(
      w.api,
      user_id,
      'sleep',
      aNight({ heart_rate: [aSample('2026-03-02T02:00:00Z', 50), aSample('2026-03-02T06:00:00.001Z', 70)] }),
    )
    await push(w.api, user_id, 'hrv', [aSample('2026-03-02T02:00:00Z', 66)])
    await push(w.api, user_id, 'hrv', [aSample('2026-03-02T02:00:00Z', 1)], { provider: 'oura' })
    const { sleep } = await w.api.listSleep({ params: { user_id }, query: window })
    const stream = await w.api.getSleepStream({ params: { sleep_id: sleep[0]?.id as string } })
    expect(stream.heartrate.map(({ value }) => value)).toEqual([50])
    expect(stream.hrv.map(({ value }) => value)).toEqual([66])
    expect(stream.hypnogram.map(({ value, start, end }) => [value, start, end])).toEqual([
      [4, '2026-03-01T22:00:00.000Z', '2026-03-01T22:20:00.000Z'],
      [2, '2026-03-01T22:20:00.000Z', '2026-03-02T02:20:00.000Z'],
      [1, '2026-03-02T02:20:00.000Z', '2026-03-02T04:00:00.000Z'],
      [3, '2026-03-02T04:00:00.000Z', '2026-03-02T06:00:00.000Z'],
    ])
    expect(stream.respiratory_rate).toEqual([])
    const other = await w.tenant()
    expect(await errorOf(other.api.getSleepStream({ params: { sleep_id: sleep[0]?.id as string } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'SLEEP_NOT_FOUND' },
    })
  })

  test('accepts stages as one list', async () => {
    const user_id = await aUser(w.api)
    const sleep_stages = [{ stage: 'deep', start_date: '2026-03-01T23:00:00+01:00', end_date: '2026-03-02T00:00:00+01:00' }]
    await pushSummary(w.api, user_id, 'sleep', aNight({ sleep_stages }))
    expect((await w.api.listSleep({ params: { user_id }, query: window })).sleep).toMatchObject([{ deep: 3600, total: 3600 }])
  })
})

describe('body', () => {
  const weightSample = (at: string, value: number, unit = 'kg') => aSample(at, value, { unit })

  test('has one summary per local day with the last measurement, in standard units', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'America/Los_Angeles' })
    const body_mass = [
      weightSample('2026-03-01T16:00:00Z', 70),
      weightSample('2026-03-02T05:00:00Z', 150, 'lb'),
      weightSample('2026-03-02T16:00:00Z', 69),
    ]
    await pushSummary(w.api, user_id, 'body', {
      body_mass,
      body_fat_percentage: [aSample('2026-03-02T16:01:00Z', 0.241, { unit: 'fraction' })],
    })
    const { body } = await w.api.listBody({ params: { user_id }, query: window })
    expect(body).toMatchObject([
      { calendar_date: '2026-03-01', weight: 150 * 0.453_592_37, fat: null },
      { calendar_date: '2026-03-02', weight: 69, fat: 24.099999999999998 },
    ])
    const { groups } = await w.api.listSamples({ params: { user_id, resource: 'body_weight' }, query: window })
    expect(groups['apple_health_kit']?.[0]?.data).toHaveLength(3)
    expect(typesOf(await daily(user_id))).toEqual([
      'daily.data.body.created',
      'daily.data.body.created',
      'daily.data.fat.created',
      'daily.data.weight.created',
    ])
  })

  test('merges pushes and keeps the latest version of each field', async () => {
    const at = '2026-03-01T16:00:00Z'
    const pushes = [
      { body: { body_mass: [weightSample(at, 71)], body_fat_percentage: [aSample(at, 20)] }, modified_at: '2026-03-01T17:00:00Z' },
      { body: { body_fat_percentage: [aSample(at, 21)] }, modified_at: '2026-03-01T18:00:00Z' },
      { body: { body_mass: [weightSample(at, 73)] }, modified_at: '2026-03-01T19:00:00Z' },
    ]
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
      [2, 1, 0],
    ]) {
      const user_id = await aUser(w.api)
      for (const i of order) await pushSummary(w.api, user_id, 'body', pushes[i]?.body, { modified_at: pushes[i]?.modified_at })
      expect((await w.api.listBody({ params: { user_id }, query: window })).body).toMatchObject([{ weight: 73, fat: 21 }])
    }
  })
})

describe('workouts', () => {
  test('name their sport, and stream events contain no data', async () => {
    const user_id = await aUser(w.api)
    await pushSummary(w.api, user_id, 'workouts', [aWorkout()])
    const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: window })
    expect(workouts).toEqual([
      expect.objectContaining({
        calendar_date: '2026-03-01',
        time_start: '2026-03-01T17:00:00.000Z',
        time_end: '2026-03-01T17:30:00.000Z',
        timezone_offset: 3600,
        sport: { id: 2, name: 'Running', slug: 'running' },
        provider_id: 'run-7',
        calories: 310.5,
        average_hr: 149,
        max_hr: 171,
        hr_zones: null,
      }),
    ])
    const workout_id = workouts[0]?.id as string
    expect(await errorOf(w.api.getWorkoutStream({ params: { workout_id } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'WORKOUT_STREAM_NOT_FOUND' },
    })
    const stream = { time: [1_772_384_400, 1_772_384_401, 1_772_384_402], heartrate: [120, null, 130], lat: [52.1, 52.100_000_1, 52.2] }
    for (const _ of [1, 2]) await w.api.pushWorkoutStream({ params: { workout_id }, body: stream })
    const empty = { cadence: [], altitude: [], velocity_smooth: [], lng: [], distance: [], power: [], resistance: [], temperature: [] }
    expect(await w.api.getWorkoutStream({ params: { workout_id } })).toEqual({ ...empty, ...stream })
    const events = await daily(user_id)
    expect(typesOf(events)).toEqual(['daily.data.workouts.created', 'daily.data.workout_stream.created'])
    expect(events[1]?.data).toEqual({
      user_id,
      workout_id,
      provider_id: 'run-7',
      sport: { id: 2, name: 'Running', slug: 'running' },
      message: expect.stringContaining('/v2/timeseries/workouts/{workout_id}/stream'),
      source: expect.objectContaining({ slug: 'apple_health_kit', type: 'watch' }),
    })
  })

  test('compute heart rate zones from the stream and the age of the user', async () => {
    const user_id = await aUser(w.api, { fallback_birth_date: '1986-03-02' })
    await pushSummary(w.api, user_id, 'workouts', aWorkout())
    const read = async () => (await w.api.listWorkouts({ params: { user_id }, query: window })).workouts[0]
    const workout_id = (await read())?.id as string
    // A maximum of 181 at age 39, and one second in each zone. The last sample has no duration.
    const stream = { time: [0, 1, 2, 3, 4, 5, 6].map((i) => 1_772_384_400 + i), heartrate: [80, 95, 110, 130, 150, 170, 170] }
    await w.api.pushWorkoutStream({ params: { workout_id }, body: stream })
    expect((await read())?.hr_zones).toEqual([1, 1, 1, 1, 1, 1])
    expect(await pushSummary(w.api, user_id, 'workouts', aWorkout())).toMatchObject({ unchanged: 1 })
    expect((await read())?.hr_zones).toEqual([1, 1, 1, 1, 1, 1])
    expect(typesOf(await daily(user_id))).toEqual([
      'daily.data.workouts.created',
      'daily.data.workout_stream.created',
      'daily.data.workouts.updated',
    ])
    // The birth date from a source takes precedence over the fallback: 220 minus 20.
    await pushSummary(w.api, user_id, 'profile', { date_of_birth: '2006-01-01', height: 181.4, biological_sex: 'female' })
    await w.api.pushWorkoutStream({ params: { workout_id }, body: { ...stream, power: [1, 2, 3, 4, 5, 6, 7] } })
    expect((await read())?.hr_zones).toEqual([2, 1, 1, 1, 1, 0])
  })

  test('reject an invalid stream and return 404 to another team', async () => {
    const user_id = await aUser(w.api)
    await pushSummary(w.api, user_id, 'workouts', aWorkout())
    const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: window })
    const params = { workout_id: workouts[0]?.id as string }
    const tomorrow = Math.floor(Date.parse(w.app.now()) / 1000) + 100_000
    for (const [body, loc] of [
      [{ time: [1, 2], heartrate: [60] }, ['heartrate']],
      [{ time: [2, 1] }, ['time', 1]],
      [{ time: [tomorrow] }, ['time', 0]],
      [{ time: [1], lat: [91] }, ['lat', 0]],
      [{ time: [] }, ['time']],
      [{ time: [1], modified_at: new Date(tomorrow * 1000).toISOString() }, ['modified_at']],
    ] as const)
      expect(await errorOf(w.api.pushWorkoutStream({ params, body: body as never }))).toMatchObject({
        status: 422,
        detail: [{ loc: ['body', ...loc] }],
      })
    const other = await w.tenant()
    for (const call of [() => other.api.getWorkoutStream({ params }), () => other.api.pushWorkoutStream({ params, body: { time: [1] } })])
      expect(await errorOf(call())).toMatchObject({ status: 404, detail: { error_type: 'WORKOUT_NOT_FOUND' } })
  })
})

test('returns profiles, meals, menstrual cycles and electrocardiograms in the public format', async () => {
  const user_id = await aUser(w.api)
  expect(await errorOf(w.api.getProfile({ params: { user_id } }))).toMatchObject({
    status: 404,
    detail: { error_type: 'PROFILE_NOT_FOUND' },
  })
  await pushSummary(w.api, user_id, 'profile', { date_of_birth: '1984-02-29', height: 171.2, biological_sex: 'Female' })
  expect(await w.api.getProfile({ params: { user_id } })).toMatchObject({
    height: 171,
    birth_date: '1984-02-29',
    sex: 'female',
    gender: null,
  })
  await pushSummary(w.api, user_id, 'meal', {
    timestamp: '2026-03-01T20:00:00+01:00',
    name: 'Lentil soup',
    energy: { unit: 'kcal', value: 420 },
    data: { soup: { macros: { carbs: 40 } } },
  })
  expect((await w.api.listMeals({ params: { user_id }, query: window })).meals).toMatchObject([
    {
      calendar_date: '2026-03-01',
      timestamp: '2026-03-01T19:00:00.000Z',
      name: 'Lentil soup',
      energy: { unit: 'kcal', value: 420 },
      macros: null,
      data: { soup: { macros: { carbs: 40 } } },
      priority_id: 1,
      source_id: 1,
    },
  ])
  const cycle = { period_start: '2026-02-10', period_end: '2026-02-14', menstrual_flow: [{ date: '2026-02-10', flow: 'light' }] }
  await pushSummary(w.api, user_id, 'menstrual_cycle', [{ source_bundle: 'com.example.cycle', cycle }])
  expect((await w.api.listMenstrualCycles({ params: { user_id }, query: window })).menstrual_cycle).toMatchObject([
    {
      ...cycle,
      cycle_end: null,
      is_predicted: false,
      ovulation_test: [],
      source_app_id: 'com.example.cycle',
      source_provider: 'apple_health_kit',
    },
  ])
  await pushSummary(w.api, user_id, 'electrocardiogram', {
    session_start: '2026-03-01T08:00:00Z',
    session_end: '2026-03-01T08:00:30Z',
    voltage_sample_count: 15_360,
    heart_rate_mean: 63.7,
    classification: 'sinus_rhythm',
    product_type: 'Watch6,2',
  })
  expect((await w.api.listElectrocardiograms({ params: { user_id }, query: window })).electrocardiogram).toMatchObject([
    {
      session_start: '2026-03-01T08:00:00.000Z',
      voltage_sample_count: 15_360,
      heart_rate_mean: 64,
      source_device_model: 'Watch6,2',
      source_device_id: expect.any(String),
    },
  ])
  const { devices } = await w.api.listRawDevices({ params: { user_id } })
  expect(devices).toMatchObject([{ data: { device_model: 'Watch6,2' }, source_id: 1, source: { slug: 'apple_health_kit' } }])
})

test('raw endpoints return the data of the source unchanged', async () => {
  const user_id = await aUser(w.api)
  const pushed = { day_summary: { date: '2026-03-01', steps_sum: 5, of_its_own: { deep: true } } }
  await pushSummary(w.api, user_id, 'activity', pushed)
  await pushSummary(w.api, user_id, 'workouts', aWorkout({ mood: 'fine' }))
  const common = { user_id, source_id: 1, priority_id: 1, source: { slug: 'apple_health_kit' } }
  expect((await w.api.listRawActivity({ params: { user_id }, query: window })).activity).toMatchObject([
    { ...common, data: pushed, timestamp: '2026-03-01T00:00:00.000Z' },
  ])
  expect((await w.api.listRawWorkouts({ params: { user_id }, query: window })).workouts).toMatchObject([
    {
      ...common,
      data: aWorkout({ mood: 'fine' }),
      provider_id: 'run-7',
      sport_id: 2,
      sport: { slug: 'running' },
      timestamp: '2026-03-01T17:00:00.000Z',
    },
  ])
  await pushSummary(w.api, user_id, 'profile', { height: 180 })
  expect(await w.api.getRawProfile({ params: { user_id } })).toMatchObject({ profile: { ...common, data: { height: 180 } } })
  expect((await w.api.listRawSleep({ params: { user_id }, query: window })).sleep).toEqual([])
  expect((await w.api.listRawBody({ params: { user_id }, query: window })).body).toEqual([])
})

describe('historical summaries', () => {
  test('emit one event per resource, without data', async () => {
    const user_id = await aUser(w.api)
    const past = { stage: 'historical', start_date: '2026-02-01T00:00:00Z', end_date: '2026-03-03T00:00:00Z' }
    for (const _ of [1, 2]) await pushSummary(w.api, user_id, 'sleep', [aNight()], past)
    const events = await daily(user_id)
    expect(typesOf(events)).toEqual(['historical.data.sleep.created', 'historical.data.sleep_cycle.created'])
    expect(events[0]?.data).toEqual({
      user_id,
      provider: 'apple_health_kit',
      start_date: '2026-02-01T00:00:00.000Z',
      end_date: '2026-03-03T00:00:00.000Z',
      is_final: true,
    })
    expect((await w.api.listSleep({ params: { user_id }, query: window })).sleep).toHaveLength(1)
  })
})

describe('invalid pushes', () => {
  const later = () => new Date(Date.parse(w.app.now()) + 3 * 86_400_000).toISOString()

  test.each<[string, Parameters<typeof pushSummary>[2], () => unknown, (string | number)[]]>([
    ['an activity without a day', 'activity', () => [{ day_summary: { steps_sum: 1 } }], [0, 'day_summary', 'date']],
    ['an activity of a day that does not exist', 'activity', () => ({ day_summary: { date: '2026-02-30' } }), ['day_summary', 'date']],
    ['an activity of the day after tomorrow', 'activity', () => ({ day_summary: { date: later().slice(0, 10) } }), ['day_summary', 'date']],
    [
      'an implausible number of steps',
      'activity',
      () => ({ day_summary: { date: '2026-03-01', steps_sum: 1e308 } }),
      ['day_summary', 'steps_sum'],
    ],
    ['an invalid sample', 'activity', () => [{ steps: [aSample('2026-03-01T09:00:00Z', -1)] }], [0, 'steps', 0, 'value']],
    [
      'a workout that ends before it starts',
      'workouts',
      () => [aWorkout(), aWorkout({ id: 'b', end_date: '2026-03-01T17:00:00+01:00' })],
      [1, 'end_date'],
    ],
    ['a workout in the year 1', 'workouts', () => aWorkout({ start_date: '0001-01-01T00:00:00Z' }), ['start_date']],
    ['a future workout', 'workouts', () => aWorkout({ end_date: later() }), ['end_date']],
    ['a sport that is not a slug', 'workouts', () => aWorkout({ sport: 'Running fast!' }), ['sport']],
    [
      'a stage outside the night',
      'sleep',
      () => aNight({ sleep_stages: [{ stage: 'deep', start_date: '2026-03-01T10:00:00Z', end_date: '2026-03-01T11:00:00Z' }] }),
      ['sleep_stages'],
    ],
    [
      'a stage of an unknown kind',
      'sleep',
      () => aNight({ sleep_stages: [{ stage: 'odd', start_date: '2026-03-02T01:00:00Z', end_date: '2026-03-02T02:00:00Z' }] }),
      ['sleep_stages'],
    ],
    [
      'stages that do not match',
      'sleep_cycle',
      () => ({
        session_start: '2026-03-01T22:00:00Z',
        session_end: '2026-03-02T06:00:00Z',
        stage_start_offset_second: [0],
        stage_end_offset_second: [1, 2],
        stage_type: [1],
      }),
      ['stage_type'],
    ],
    ...(
      [
        ['that ends before it starts', [20], [10]],
        ['that lasts longer than the sleep', [0], [8 * 3600 + 1]],
      ] as const
    ).map(([what, stage_start_offset_second, stage_end_offset_second]): [string, 'sleep_cycle', () => unknown, string[]] => [
      `a stage ${what}`,
      'sleep_cycle',
      () => ({
        ...{ session_start: '2026-03-01T22:00:00Z', session_end: '2026-03-02T06:00:00Z' },
        ...{ stage_start_offset_second, stage_end_offset_second, stage_type: [1] },
      }),
      ['stage_end_offset_second'],
    ]),
    ['a future birth date', 'profile', () => ({ date_of_birth: later() }), ['date_of_birth']],
    ['a meal without a name', 'meal', () => ({ timestamp: '2026-03-01T20:00:00Z' }), ['name']],
    [
      'a meal with an implausible energy',
      'meal',
      () => ({ timestamp: '2026-03-01T20:00:00Z', name: 'Soup', data: { soup: { energy: { unit: 'kcal', value: 1e308 } } } }),
      ['data', 'soup', 'energy', 'value'],
    ],
    ['a future period', 'menstrual_cycle', () => ({ cycle: { period_start: later().slice(0, 10) } }), ['period_start']],
    [
      'a prediction for the year 9999',
      'menstrual_cycle',
      () => ({ cycle: { period_start: '9999-12-31', is_predicted: true } }),
      ['period_start'],
    ],
    [
      'a period that ends before it starts',
      'menstrual_cycle',
      () => ({ cycle: { period_start: '2026-03-02', period_end: '2026-03-01' } }),
      ['period_end'],
    ],
    ['a value that is not an object', 'activity', () => ['much'], [0]],
  ])('rejects %s and stores nothing', async (_, resource, data, path) => {
    const user_id = await aUser(w.api)
    const { status, detail } = await errorOf(pushSummary(w.api, user_id, resource, data()))
    expect([status, (detail as unknown as { loc: unknown }[])[0]?.loc]).toEqual([422, ['body', 'data', ...path]])
    const [row] = await query(
      w.url,
      "select (select count(*) from summaries where user_id = $1) + (select count(*) from events where user_id = $1 and event_type <> 'user.created') + (select count(*) from sample_days where user_id = $1) as stored",
      [user_id],
    )
    expect(Number(row?.['stored'])).toBe(0)
  })

  test('rejects too many summaries in one request', async () => {
    const user_id = await aUser(w.api)
    const days = (count: number) =>
      Array.from({ length: count }, (_, i) => new Date(Date.parse('2010-01-01T12:00:00Z') + i * 86_400_000).toISOString())
    const tooMany = { status: 422, detail: [{ loc: ['body', 'data'], type: 'too_big' }] }
    const activity = days(1001).map((date) => ({ day_summary: { date } }))
    expect(await errorOf(pushSummary(w.api, user_id, 'activity', activity))).toMatchObject(tooMany)
    const weightSample = (dates: string[]) => ({ body_mass: dates.map((date) => aSample(date, 70)) })
    const all = days(5001)
    expect(
      await errorOf(pushSummary(w.api, user_id, 'body', [weightSample(all.slice(0, 3000)), weightSample(all.slice(3000))])),
    ).toMatchObject(tooMany)
    expect(await pushSummary(w.api, user_id, 'body', weightSample(all.slice(0, 1500)), { stage: 'historical' })).toMatchObject({
      created: 3000,
    })
  })

  test('rejects an unknown resource, provider or user', async () => {
    const user_id = await aUser(w.api)
    expect(await errorOf(pushSummary(w.api, user_id, 'mood' as never, {}))).toMatchObject({
      status: 422,
      detail: [{ loc: ['path', 'resource'] }],
    })
    expect(await errorOf(pushSummary(w.api, user_id, 'activity', {}, { provider: 'tidemark' }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'provider'] }],
    })
    expect(await errorOf(pushSummary(w.api, '8a5f3c1e-0000-4000-8000-000000000000', 'activity', {}))).toMatchObject({ status: 404 })
  })
})

test('drops and counts a summary outside the ingestion bounds', async () => {
  const user_id = await aUser(w.api, { ingestion_start: '2026-03-02' })
  const days = ['2026-03-01', '2026-03-02'].map((date) => ({ day_summary: { date, steps_sum: 1 } }))
  expect(await pushSummary(w.api, user_id, 'activity', days)).toEqual({ ...tally, received: 2, created: 1, dropped: 1 })
})

test('keeps a summary that contains the ingestion bounds', async () => {
  const user_id = await aUser(w.api, { ingestion_start: '2026-03-01T10:00:00Z', ingestion_end: '2026-03-01T11:00:00Z' })
  const day = { day_summary: { date: '2026-03-01', steps_sum: 1 } }
  expect(await pushSummary(w.api, user_id, 'activity', day)).toMatchObject({ created: 1, dropped: 0 })
})

describe('introspection', () => {
  test('reports the data received per resource and the historical pulls', async () => {
    const { api } = await w.tenant()
    const user_id = await aUser(api)
    await push(api, user_id, 'heartrate', [aSample('2026-03-01T09:00:00Z', 60), aSample('2026-03-02T09:00:00Z', 61)])
    await push(api, user_id, 'weight', [aSample('2026-02-01T09:00:00Z', 60)], {
      stage: 'historical',
      start_date: '2026-01-01T00:00:00Z',
      end_date: '2026-03-01T00:00:00Z',
    })
    await pushSummary(api, user_id, 'workouts', aWorkout())
    const resources = await api.getUserResources()
    const attempt = { timestamp: expect.any(String), status: 'success' }
    expect(resources).toEqual({
      data: [
        {
          user_id,
          provider: {
            apple_health_kit: {
              heartrate: {
                last_attempt: attempt,
                oldest_data: '2026-03-01T09:00:00.000Z',
                newest_data: '2026-03-02T09:00:00.000Z',
                sent_count: 2,
              },
              weight: {
                last_attempt: attempt,
                oldest_data: '2026-02-01T09:00:00.000Z',
                newest_data: '2026-02-01T09:00:00.000Z',
                sent_count: 0,
              },
              workouts: {
                last_attempt: attempt,
                oldest_data: '2026-03-01T17:00:00.000Z',
                newest_data: '2026-03-01T17:00:00.000Z',
                sent_count: 1,
              },
            },
          },
        },
      ],
      next: null,
      next_cursor: null,
    })
    const pulls = await api.getHistoricalPulls({ query: { user_id } })
    expect(pulls.data[0]?.provider['apple_health_kit']).toEqual({
      pulled: {
        weight: {
          status: 'success',
          range_start: '2026-01-01T00:00:00.000Z',
          range_end: '2026-03-01T00:00:00.000Z',
          timeline: { scheduled_at: expect.any(String), started_at: expect.any(String), ended_at: expect.any(String) },
          days_with_data: 1,
          release: expect.any(String),
          trace_id: null,
          error_details: null,
        },
      },
      not_pulled: expect.arrayContaining(['activity', 'heartrate', 'sleep']),
    })
  })

  test('returns pages of users of the team only', async () => {
    const { api } = await w.tenant()
    const users = await Promise.all([1, 2, 3].map(() => aUser(api)))
    for (const user_id of users)
      for (const provider of ['oura', 'manual']) await push(api, user_id, 'hrv', [aSample('2026-03-01T09:00:00Z', 60)], { provider })
    const first = await api.getUserResources({ query: { user_limit: 2 } })
    const second = await api.getUserResources({ query: { user_limit: 2, next_cursor: first.next_cursor } })
    expect([...first.data, ...second.data].map(({ user_id }) => user_id)).toEqual(users.toSorted())
    expect([first.data.length, second.next_cursor]).toEqual([2, null])
    expect((await api.getUserResources({ query: { provider: 'oura' } })).data[0]?.provider).toEqual({ oura: expect.anything() })
    expect(await errorOf(api.getUserResources({ query: { next_cursor: 'bm9uZQ' } }))).toMatchObject({ status: 422 })
    expect(await errorOf(api.getHistoricalPulls({ query: { provider: 'tidemark' } }))).toMatchObject({ status: 422 })
    expect(await errorOf((await w.tenant()).api.getUserResources({ query: { user_id: users[0] as string } }))).toMatchObject({
      status: 404,
    })
  })
})

test('applies the source priorities of a team to raw summaries', async () => {
  const { api } = await w.tenant()
  const before = await api.getSourcePriorities({ query: { data_type: 'activity' } })
  expect(before[0]).toMatchObject({ data_type: 'activity', slug: 'apple_health_kit', source_id: 1, priority: 1 })
  await api.patchSourcePriorities({ body: [{ data_type: 'activity', providers: ['oura', 'fitbit'] }] })
  const after = await api.getSourcePriorities({ query: { data_type: 'activity' } })
  expect(after.slice(0, 3).map(({ slug, priority }) => [slug, priority])).toEqual([
    ['oura', 1],
    ['fitbit', 2],
    ['apple_health_kit', 3],
  ])
  expect(after).toHaveLength(before.length)
  expect((await api.getSourcePriorities({ query: { data_type: 'sleep' } }))[0]?.slug).toBe('apple_health_kit')
  const user_id = await aUser(api)
  await pushSummary(api, user_id, 'activity', { day_summary: { date: '2026-03-01' } }, { provider: 'fitbit' })
  expect((await api.listRawActivity({ params: { user_id }, query: window })).activity).toMatchObject([{ priority_id: 2 }])
  expect(await errorOf(api.patchSourcePriorities({ body: [{ data_type: 'activity', providers: ['tidemark'] }] }))).toMatchObject({
    status: 422,
    detail: [{ loc: ['body', 0, 'providers', 0] }],
  })
  expect(await api.patchSourcePriorities({ body: undefined as never })).toEqual(await api.getSourcePriorities())
})
