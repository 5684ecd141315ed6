import { VitalClient } from '@tryvital/vital-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let sdk: VitalClient
let user_id: string
let window: { startDate: string; endDate: string }
beforeAll(async () => {
  w = await world()
  w.setTimeToNoon()
  sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })
  user_id = await aUser(w.api)
  expect(await sdk.link.connectDemoProvider({ userId: user_id, provider: 'apple_health_kit' })).toMatchObject({ success: true })
  const now = w.app.wall()
  window = { startDate: later(now, -31 * DAY).slice(0, 10), endDate: now.slice(0, 10) }
})

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

type Reader = (user_id: string, request: { startDate: string; endDate: string }) => Promise<unknown>
const reader = (name: string) => (sdk.vitals as unknown as Record<string, Reader>)[name]?.bind(sdk.vitals) as Reader

test('covers every sample reader of the public SDK', () => {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(sdk.vitals)).filter((name) => !/^_|^constructor$/.test(name))
  const tested = seriesNames.flatMap((name) => [`${camel(name)}Grouped`, ...(series[name].legacy ? [camel(name)] : [])])
  const ofCholesterol = methods.filter((name) => /^cholesterol[HLT]/.test(name))
  expect(methods.sort()).toEqual([...tested, ...ofCholesterol].sort())
})

test.each(seriesNames)('the public SDK reads %s, grouped', async (name) => {
  type Page = { groups: Record<string, { source: object; data: Record<string, unknown>[] }[]> }
  const page = (await reader(`${camel(name)}Grouped`)(user_id, window)) as Page
  const groups = page.groups['apple_health_kit'] ?? []
  expect(groups[0]?.source).toMatchObject({ provider: 'apple_health_kit', slug: 'apple_health_kit' })
  const samples = groups.flatMap(({ data }) => data)
  const apiSamples = await samplesFromApi(name)
  expect(apiSamples.length).toBeGreaterThan(0)
  expect(samples).toHaveLength(apiSamples.length)
  expect(samples[0]).toMatchObject(asParsed(apiSamples[0] as Sample))
})

type Sample = Awaited<ReturnType<typeof samplesFromApi>>[number]

/** Reads the samples without the SDK. */
async function samplesFromApi(resource: string) {
  const query = { start_date: window.startDate, end_date: window.endDate }
  const { groups } = await w.api.listSamples({ params: { user_id, resource }, query })
  return (groups['apple_health_kit'] ?? []).flatMap(({ data }) => data)
}

function asParsed({ unit, value, systolic, diastolic, timestamp, start, end }: Sample) {
  const times = start && end ? { start: new Date(start), end: new Date(end) } : {}
  return { unit, timestamp: new Date(timestamp), ...times, ...(value === undefined ? { systolic, diastolic } : { value }) }
}

describe('legacy endpoints', () => {
  test.each(seriesNames.filter((name) => series[name].legacy))('the public SDK reads %s as an array', async (name) => {
    const samples = (await reader(camel(name))(user_id, window)) as { timestamp: Date }[]
    expect(samples.length).toBeGreaterThan(0)
    expect(samples[0]?.timestamp).toBeInstanceOf(Date)
  })

  test.each(['cholesterolTotal', 'cholesterolHdl', 'cholesterolLdl', 'cholesterolTriglycerides'])(
    'the public SDK reads %s',
    async (name) => {
      const samples = (await reader(name)(user_id, window)) as { type: string }[]
      expect(samples.length).toBeGreaterThan(0)
      expect(new Set(samples.map(({ type }) => type))).toEqual(new Set([name.slice('cholesterol'.length).toLowerCase()]))
    },
  )
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
    const summaries = await read()
    expect(summaries?.length).toBeGreaterThan(0)
    expect(summaries?.[0]).toMatchObject({ userId: user_id, source: { slug: 'apple_health_kit' } })
  })

  test('the public SDK reads raw devices', async () => {
    const { devices } = await sdk.devices.getRaw(user_id, {})
    expect(devices).toHaveLength(1)
  })
})

test('the public SDK reads streams', async () => {
  const { workouts } = await sdk.workouts.get(user_id, window)
  for (const { id, timeStart } of workouts) {
    const { time, heartrate } = await sdk.workouts.getByWorkoutId(id)
    expect(time?.[0]).toBe(timeStart.getTime() / 1000)
    expect(heartrate).toHaveLength(time?.length as number)
  }
  const { sleep } = await sdk.sleep.get(user_id, window)
  const stream = await sdk.sleep.getStreamBySleepId(sleep.at(-1)?.id as string)
  for (const samples of [stream.hypnogram, stream.heartrate, stream.hrv, stream.respiratoryRate]) expect(samples?.length).toBeGreaterThan(0)
})

test('the public SDK reads introspection data and source priorities', async () => {
  const { data } = await sdk.introspect.getUserResources({})
  expect(Object.keys(data[0]?.provider['apple_health_kit'] ?? {})).toEqual(
    expect.arrayContaining(['activity', 'steps', 'weight', 'workout_stream']),
  )
  const pulls = await sdk.introspect.getUserHistoricalPulls({ userId: user_id })
  expect(pulls.data[0]?.provider['apple_health_kit']?.pulled['heartrate']).toMatchObject({ status: 'success' })
  expect((await sdk.team.getSourcePriorities({ dataType: 'sleep' })).length).toBeGreaterThan(20)
  expect((await sdk.team.updateSourcePriorities()).length).toBeGreaterThan(20)
})
