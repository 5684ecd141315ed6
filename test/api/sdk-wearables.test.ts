import { VitalClient } from '@tryvital/vital-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { series, seriesNames } from '../../src/contract/series.ts'
import { aSampleOf, pushEverything } from '../support/everything.ts'
import { aUser, push } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let sdk: VitalClient
let user_id: string
let ids: Awaited<ReturnType<typeof pushEverything>>
beforeAll(async () => {
  const w = await world()
  sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })
  user_id = await aUser(w.api)
  ids = await pushEverything(w.api, user_id)
  await push(w.api, user_id, 'heartrate', [aSampleOf('heartrate')], { stage: 'historical' })
})

const window = { startDate: '2026-02-01', endDate: '2026-03-31' }
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

type Reader = (user_id: string, request: typeof window) => Promise<unknown>
const reader = (name: string) => (sdk.vitals as unknown as Record<string, Reader>)[name]?.bind(sdk.vitals) as Reader

test('every reader of samples that the public SDK has is tried below', () => {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(sdk.vitals)).filter((name) => !/^_|^constructor$/.test(name))
  const tried = seriesNames.flatMap((name) => [`${camel(name)}Grouped`, ...(series[name].legacy ? [camel(name)] : [])])
  const ofCholesterol = methods.filter((name) => /^cholesterol[HLT]/.test(name))
  expect(methods.sort()).toEqual([...tried, ...ofCholesterol].sort())
})

test.each(seriesNames)('the public SDK reads %s, grouped', async (name) => {
  const page = (await reader(`${camel(name)}Grouped`)(user_id, window)) as { groups: Record<string, { source: object; data: object[] }[]> }
  const groups = page.groups['apple_health_kit']
  expect(groups?.[0]?.data.length).toBeGreaterThan(0)
  expect(groups?.[0]?.source).toMatchObject({ provider: 'apple_health_kit', slug: 'apple_health_kit' })
  expect(groups?.flatMap(({ data }) => data)).toContainEqual(expect.objectContaining(expectedOf(name)))
})

/** The example of the row, with times as the SDK gives them. */
function expectedOf(name: (typeof seriesNames)[number]) {
  const { unit, example } = series[name]
  const { start, end, ...value } = example as { start?: string; end?: string }
  if (name === 'hypnogram') return { value: 2, unit }
  return {
    unit,
    ...value,
    ...(start && end ? { start: new Date(start), end: new Date(end) } : {}),
    timestamp: new Date('2026-03-01T09:15:00Z'),
  }
}

describe('the older form', () => {
  test.each(seriesNames.filter((name) => series[name].legacy))('the public SDK reads %s as an array', async (name) => {
    const samples = (await reader(camel(name))(user_id, window)) as { timestamp: Date }[]
    expect(samples.length).toBeGreaterThan(0)
    expect(samples[0]?.timestamp).toBeInstanceOf(Date)
  })

  test.each([
    ['cholesterolTotal', 1],
    ['cholesterolHdl', 0],
    ['cholesterolLdl', 0],
    ['cholesterolTriglycerides', 0],
  ])('%s', async (name, count) => {
    expect(await reader(name)(user_id, window)).toHaveLength(count)
  })
})

describe('summaries', () => {
  const lists: [string, () => Promise<object[] | undefined>][] = [
    ['activity', async () => (await sdk.activity.get(user_id, window)).activity],
    ['raw activity', async () => (await sdk.activity.getRaw(user_id, window)).activity],
    ['sleep', async () => (await sdk.sleep.get(user_id, window)).sleep],
    ['raw sleep', async () => (await sdk.sleep.getRaw(user_id, window)).sleep],
    ['sleep cycles', async () => (await sdk.sleepCycle.get(user_id, window)).sleepCycle],
    ['workouts', async () => (await sdk.workouts.get(user_id, window)).workouts],
    ['raw workouts', async () => (await sdk.workouts.getRaw(user_id, window)).workouts],
    ['body', async () => (await sdk.body.get(user_id, window)).body],
    ['raw body', async () => (await sdk.body.getRaw(user_id, window)).body],
    ['meals', async () => (await sdk.meal.get(user_id, window)).meals],
    ['menstrual cycles', async () => (await sdk.menstrualCycle.get(user_id, window)).menstrualCycle],
    ['electrocardiograms', async () => (await sdk.electrocardiogram.get(user_id, window)).electrocardiogram],
    ['profile', async () => [await sdk.profile.get(user_id, {})]],
    ['raw profile', async () => [(await sdk.profile.getRaw(user_id, {})).profile]],
  ]

  test.each(lists)('the public SDK reads %s', async (_, read) => {
    const found = await read()
    expect(found?.length).toBeGreaterThan(0)
    expect(found?.[0]).toMatchObject({ userId: user_id, source: { slug: 'apple_health_kit' } })
  })

  test('and devices, which are none here', async () => {
    expect(await sdk.devices.getRaw(user_id, {})).toEqual({ devices: [] })
  })
})

test('the public SDK reads streams', async () => {
  expect(await sdk.workouts.getByWorkoutId(ids.workout_id)).toMatchObject({
    time: [1_772_384_400, 1_772_384_401],
    heartrate: [120, undefined],
  })
  const stream = await sdk.sleep.getStreamBySleepId(ids.sleep_id)
  expect(stream.hypnogram?.length).toBeGreaterThan(0)
})

test('the public SDK looks into what came in, and at priorities', async () => {
  const { data } = await sdk.introspect.getUserResources({})
  expect(Object.keys(data[0]?.provider['apple_health_kit'] ?? {})).toEqual(
    expect.arrayContaining(['activity', 'steps', 'weight', 'workout_stream']),
  )
  const pulls = await sdk.introspect.getUserHistoricalPulls({ userId: user_id })
  expect(pulls.data[0]?.provider['apple_health_kit']?.pulled['heartrate']).toMatchObject({ status: 'success' })
  expect((await sdk.team.getSourcePriorities({ dataType: 'sleep' })).length).toBeGreaterThan(20)
  expect((await sdk.team.updateSourcePriorities()).length).toBeGreaterThan(20)
})
