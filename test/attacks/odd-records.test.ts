import { beforeEach, describe, expect, test } from 'vitest'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { cloudSlugs } from '../../src/wearables/providers/clouds.ts'
import { sleepOf } from '../../src/wearables/providers/google_health/stand-in/data.ts'
import type { Behavior } from '../../src/wearables/providers/stand-in/server.ts'
import { ACCOUNT, allClouds } from '../support/all-clouds.ts'
import type { OAuthSlug } from '../support/consent.ts'
import { readMetrics } from '../support/metrics.ts'
import { errorOf } from '../support/world.ts'

const { noon, clouds: standIns, connectAll } = await allClouds()
const { oura, withings, whoop_v2: whoop, google_health: google, dexcom_v3: dexcom } = standIns
const ago = (ms: number) => new Date(Date.parse(noon) - ms).toISOString()
const [start1, end1] = [ago(3 * HOUR), ago(2 * HOUR)]
const secondsOf = (instant: string) => Math.floor(Date.parse(instant) / SECOND)

type Case = {
  cloud: { behavior: Behavior }
  without?: string[]
  /** Adds a record that Assay cannot read, and one with a number that is absent. */
  addOdd(): void
  repair(): void
  /** The odd field, and the type of the record. */
  record: string
  field: string
  /** The records of the user that were stored, by their start. */
  stored(): Promise<string[]>
  odd: string
  absent: string
}

const day = noon.slice(0, 10)
const nap = { day, type: 'late_nap', bedtime_start: start1, bedtime_end: end1 }
const withoutGoogle = ['activity_and_fitness'].map((name) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`)

const range = { start_date: ago(9 * DAY).slice(0, 10), end_date: day }

const sleepsOf = async (slug: OAuthSlug) =>
  (await t.api.listSleep({ params: { user_id: userOf(slug) }, query: { ...range, provider: slug } })).sleep.map((one) =>
    new Date(one.bedtime_start).toISOString(),
  )

async function samplesOf(slug: OAuthSlug, resource: string) {
  const { groups } = await t.api.listSamples({ params: { user_id: userOf(slug), resource }, query: { ...range, provider: slug } })
  return (groups[slug] ?? []).flatMap(({ data }) => data).map(({ timestamp }) => new Date(String(timestamp)).toISOString())
}

const clouds: Partial<Record<OAuthSlug, Case>> = {
  oura: {
    cloud: oura,
    without: ['personal', 'spo2', 'heart_health'],
    addOdd() {
      oura.put(ACCOUNT, 'sleep', { id: 'odd', ...nap, efficiency: 'unknown' })
      oura.put(ACCOUNT, 'sleep', {
        id: 'absent',
        ...nap,
        bedtime_start: ago(6 * HOUR),
        bedtime_end: ago(5 * HOUR),
        average_hrv: 'NaN',
      })
    },
    repair: () => oura.put(ACCOUNT, 'sleep', { id: 'odd', efficiency: 88 }),
    ...{ record: 'sleep', field: 'efficiency', stored: () => sleepsOf('oura'), odd: start1, absent: ago(6 * HOUR) },
  },
  withings: {
    cloud: withings,
    addOdd() {
      const [group] = withings.users.get(ACCOUNT)?.groups ?? []
      const scale = (id: number, at: string, measures: object[]) =>
        withings.put(ACCOUNT, 'groups', { ...group, id: id as never, date: secondsOf(at), modified: secondsOf(at), measures })
      scale(99_998, start1, [{ value: 68_250, type: 1, unit: '-3' }])
      const absent = { value: 'NaN', type: 6, unit: -3 }
      scale(99_999, ago(5 * HOUR), [{ value: 68_250, type: 1, unit: -3 }, absent])
    },
    repair: () =>
      withings.put(ACCOUNT, 'groups', {
        ...{ id: 99_998 as never, date: secondsOf(start1), modified: secondsOf(noon) + 60 },
        measures: [{ value: 68_250, type: 1, unit: -3 }],
      }),
    ...{ record: 'measure', field: 'measures.unit', stored: () => samplesOf('withings', 'weight') },
    ...{ odd: start1, absent: ago(5 * HOUR) },
  },
  whoop_v2: {
    cloud: whoop,
    without: ['read:cycles', 'read:workout', 'read:body_measurement'],
    addOdd() {
      const times = { start: start1, end: end1, timezone_offset: '-05:00', score_state: 'SCORED' }
      whoop.put(ACCOUNT, 'sleeps', { id: 'odd', ...times, nap: 'yes' })
      const absent = { ...times, start: ago(6 * HOUR), end: ago(5 * HOUR) }
      whoop.put(ACCOUNT, 'sleeps', { id: 'absent', ...absent, nap: true, score: { respiratory_rate: 'NaN' } })
    },
    repair: () => whoop.put(ACCOUNT, 'sleeps', { id: 'odd', nap: true }),
    ...{ record: 'sleep', field: 'nap', stored: () => sleepsOf('whoop_v2'), odd: start1, absent: ago(6 * HOUR) },
  },
  google_health: {
    cloud: google,
    without: withoutGoogle,
    addOdd() {
      const night = sleepOf(Date.parse(start1), Date.parse(end1))
      const odd = { ...night, summary: { ...night.summary, minutesAsleep: 'many' } }
      google.putPoint(ACCOUNT, 'sleep', { id: 'odd', at: Date.parse(start1), end: Date.parse(end1) }, odd)
      const [at, end] = [Date.parse(ago(6 * HOUR)), Date.parse(ago(5 * HOUR))]
      const absent = { ...sleepOf(at, end), summary: { minutesAsleep: 'NaN' } }
      google.putPoint(ACCOUNT, 'sleep', { id: 'absent', at, end }, absent)
      const temperature = { nightlyTemperatureCelsius: 33.9, baselineTemperatureCelsius: 'NaN' }
      google.putPoint(ACCOUNT, 'daily-sleep-temperature-derivations', { at: Date.parse(noon) - DAY }, temperature)
    },
    repair: () =>
      google.putPoint(
        ACCOUNT,
        'sleep',
        { id: 'odd', at: Date.parse(start1), end: Date.parse(end1) },
        sleepOf(Date.parse(start1), Date.parse(end1)),
      ),
    ...{ record: 'sleep', field: 'sleep.summary.minutesAsleep', stored: () => sleepsOf('google_health') },
    ...{ odd: start1, absent: ago(6 * HOUR) },
  },
  dexcom_v3: {
    cloud: dexcom,
    addOdd() {
      dexcom.put(ACCOUNT, 'egvs', { id: `egv-${Date.parse(start1)}`, at: start1, value: { low: true } })
      dexcom.put(ACCOUNT, 'egvs', { id: '', at: ago(6 * HOUR + MINUTE), value: 'NaN' })
      dexcom.put(ACCOUNT, 'egvs', { id: '', at: ago(6 * HOUR), value: 99 })
    },
    repair: () => dexcom.put(ACCOUNT, 'egvs', { id: `egv-${Date.parse(start1)}`, at: start1, value: 101 }),
    ...{ record: 'egv', field: 'value', stored: () => samplesOf('dexcom_v3', 'glucose'), odd: start1, absent: ago(6 * HOUR) },
  },
}
const cases = Object.entries(clouds) as [OAuthSlug, Case][]
const { w, t, userOf } = await connectAll(clouds)

test('every cloud that Assay reads is tested', () => {
  expect(Object.keys(clouds).sort()).toEqual([...cloudSlugs].sort())
})

describe.each(cases)('%s', (slug, { cloud, addOdd, repair, stored, record, field, odd, absent }) => {
  const refresh = () => t.api.refreshUser({ params: { user_id: userOf(slug) } })
  const skipped = async () => (await readMetrics(w.base))(`assay_cloud_skipped_total{provider="${slug}",reason="invalid"}`)
  const feeds = async () => (await t.api.listConnections({ params: { user_id: userOf(slug) } })).providers[0]?.feeds ?? []
  const skippedAtConnection = async () => (await feeds()).flatMap(({ skipped }) => skipped)

  test('a record that Assay cannot read is skipped, counted and read once it changes, and the others are stored', async () => {
    const earlier = await stored()
    expect(earlier).not.toEqual([])
    addOdd()
    expect(await refresh()).toMatchObject({ refreshed_sources: [slug], failed_sources: [] })
    expect((await stored()).filter((one) => !earlier.includes(one))).toEqual([absent])
    expect(await stored()).toEqual(expect.arrayContaining(earlier))
    expect(await skipped()).toBeGreaterThan(0)
    const seen = { since: w.app.wall(), last_seen_at: w.app.wall() }
    expect(await skippedAtConnection()).toEqual([{ record, field, reason: 'invalid', count: 1, ...seen }])
    await refresh()
    expect(await skippedAtConnection()).toMatchObject([{ count: 1 }])

    w.advanceTime(MINUTE)
    repair()
    expect(await refresh()).toMatchObject({ refreshed_sources: [slug], failed_sources: [] })
    expect(await stored()).toContain(odd)
    expect(await skippedAtConnection()).toEqual([])
  })

  test('a feed that fails again and again shows at the connection, with the cause and the remedy', async () => {
    cloud.behavior.respondWith = { status: 200, body: '<!doctype html>' }
    for (let i = 0; i < 3; i++) {
      w.advanceTime(HOUR)
      await errorOf(refresh())
    }
    const failing = (await feeds()).filter(({ name, failures }) => name !== 'enrollment' && failures >= 3)
    expect(failing).not.toEqual([])
    for (const one of failing) expect(one).toMatchObject({ error: 'malformed', remedy: expect.stringContaining('cannot read') })
    cloud.behavior.respondWith = undefined
    w.advanceTime(HOUR)
    await refresh()
    for (const one of (await feeds()).filter(({ name }) => name !== 'enrollment'))
      expect(one).toMatchObject({ failures: 0, error: null, remedy: null })
  })

  test('a simulated cloud adds odd records to every page, and the stored data stays as it was', async () => {
    w.advanceTime(HOUR)
    await refresh()
    const earlier = await stored()
    Object.assign(cloud.behavior, { odd_records: 7, absent_numbers: true })
    w.advanceTime(MINUTE)
    expect(await refresh()).toMatchObject({ refreshed_sources: [slug], failed_sources: [] })
    expect(await stored()).toEqual(earlier)
    expect(await skippedAtConnection()).toEqual(expect.arrayContaining([expect.objectContaining({ record, reason: 'invalid' })]))
    Object.assign(cloud.behavior, { odd_records: 0, absent_numbers: false })
  })
})

describe('a record with an implausible value or period leaves the others of its response', () => {
  const refresh = (slug: OAuthSlug) => t.api.refreshUser({ params: { user_id: userOf(slug) } })
  const skippedOf = async (slug: OAuthSlug) =>
    ((await t.api.listConnections({ params: { user_id: userOf(slug) } })).providers[0]?.feeds ?? [])
      .flatMap(({ skipped }) => skipped)
      .flatMap(({ record, field, reason, count }) => (reason === 'implausible' ? `${record} ${field} ${count}` : []))
      .sort()
  beforeEach(() => w.advanceTime(HOUR))

  test('a weight of 0 g at Google Health', async () => {
    const weigh = (at: string, weightGrams: number) =>
      google.putPoint(ACCOUNT, 'weight', { at: Date.parse(at), family: 'sources' }, { weightGrams })
    const [good, bad] = [ago(7 * HOUR), ago(8 * HOUR)]
    const earlier = await samplesOf('google_health', 'weight')
    weigh(good, 68_250)
    weigh(bad, 0)
    weigh(later(w.app.wall(), 30 * HOUR), 68_250)
    expect(await refresh('google_health')).toMatchObject({ failed_sources: [] })
    expect((await samplesOf('google_health', 'weight')).filter((one) => !earlier.includes(one))).toEqual([good])
    expect(await skippedOf('google_health')).toEqual(['body_weight start_date 1', 'body_weight value 1'])
    weigh(bad, 68_100)
    await refresh('google_health')
    expect(await samplesOf('google_health', 'weight')).toContain(bad)
    expect(await skippedOf('google_health')).toEqual(['body_weight start_date 1'])
  })

  test('workouts at Oura that end before they start, or after a month', async () => {
    const train = (id: string, start: string, end: string) =>
      oura.put(ACCOUNT, 'workout', { id, day, activity: 'running', calories: 90, start_datetime: start, end_datetime: end })
    train('backward', end1, start1)
    train('endless', ago(40 * DAY), start1)
    train('good', start1, end1)
    expect(await refresh('oura')).toMatchObject({ failed_sources: [] })
    const { workouts } = await t.api.listWorkouts({ params: { user_id: userOf('oura') }, query: { ...range, provider: 'oura' } })
    expect(workouts.map(({ time_start }) => new Date(time_start).toISOString())).toContain(start1)
    expect(await skippedOf('oura')).toEqual(['workouts end_date 2'])
  })

  test('a night at Withings that ends before it starts', async () => {
    const [night] = withings.users.get(ACCOUNT)?.nights ?? []
    const sleep = (id: number, start: string, end: string) =>
      withings.put(ACCOUNT, 'nights', { ...night, id, date: day, startdate: secondsOf(start), enddate: secondsOf(end) })
    sleep(99_996, end1, start1)
    sleep(99_997, start1, end1)
    expect(await refresh('withings')).toMatchObject({ failed_sources: [] })
    expect(await sleepsOf('withings')).toContain(start1)
    expect(await skippedOf('withings')).toEqual(['sleep end_date 1'])
  })
})
