import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type SourceSlug, sourceSlugs } from '../../src/contract/tenants/sources.ts'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'
import { runAtOnce } from '../../src/platform/shares/slices.ts'
import { readSamples } from '../../src/wearables/data/samples/rules-samples.ts'
import { dayAfter, startOf } from '../../src/wearables/demo/rules-day.ts'
import { personOf } from '../../src/wearables/demo/rules-person.ts'
import { demoReport } from '../../src/wearables/demo/rules-report.ts'
import { cyclesOf } from '../../src/wearables/demo/series/rules-cycle.ts'
import { zoneClock } from '../../src/wearables/time/rules.ts'

const DAY = 86_400_000
const MINUTE = 60_000

type DemoDay = { source: SourceSlug; user_id: string; date: string; zone: string; until: number }

/** The report of one day, complete unless `until` is set. */
function reportOf({
  source = 'fitbit',
  user_id = 'c0ffee00-0000-4000-8000-000000000001',
  date = '2026-03-02',
  ...more
}: Partial<DemoDay> = {}) {
  const { zone = 'UTC', until = Date.parse(date) + 3 * DAY } = more
  return demoReport({ source, user_id, dates: [date], zoneAt: zoneClock(zone), until, isLive: true })
}

type Report = ReturnType<typeof reportOf>

const samplesOf = ({ samples }: Report, name: string) => samples.find((series) => series.name === name)?.samples ?? []
const valuesOf = (report: Report, name: string) => samplesOf(report, name).map(({ value }) => value as number)
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0)

type Activity = { day_summary: Record<string, number> }
const activityOf = ({ summaries }: Report) => (summaries.activity[0] as Activity).day_summary

type Night = { start_date: string; end_date: string; sleep_stages: { stage: string; start_date: string; end_date: string }[] }
const nightOf = ({ summaries }: Report) => summaries.sleep[0] as Night

const someDay = fc.record({
  source: fc.constantFrom(...sourceSlugs),
  user_id: fc.uuid(),
  date: fc.integer({ min: 0, max: 5000 }).map((days) => dayAfter('2020-01-01', days)),
  zone: fc.constantFrom('UTC', 'America/Los_Angeles', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Auckland'),
})

const property = (name: string, check: (day: Omit<DemoDay, 'until'>) => void) =>
  test(name, () => fc.assert(fc.property(someDay, check), { numRuns: 40 }))

describe('demo day', () => {
  property('is deterministic', (day) => {
    expect(reportOf(day)).toEqual(reportOf(day))
  })

  property('has a sample of every resource and a summary of every kind for any source', (day) => {
    const report = reportOf(day)
    const bodies = Object.keys(report.summaries.body[0] as object)
    expect(bodies).toEqual(['source_type', 'body_mass', 'body_fat_percentage', 'body_mass_index', 'lean_body_mass', 'waist_circumference'])
    const fromSummaries = ['body_weight', 'body_fat', 'body_mass_index', 'lean_body_mass', 'waist_circumference', 'hypnogram']
    expect([...report.samples.map(({ name }) => name), ...fromSummaries].sort()).toEqual(seriesNames.toSorted())
    expect(report.samples.filter(({ samples }) => !samples.length).map(({ name }) => name)).toEqual([])
    expect(Object.entries(report.summaries).filter(([, items]) => !items.length)).toEqual([])
    expect(report.streams).toHaveLength(1)
  })

  property('stays within the units and bounds of the series table', (day) => {
    const reading = { loc: ['body', 'data'], zoneAt: () => 0, now: Date.parse(day.date) + 3 * DAY, version: null }
    for (const { name, samples } of reportOf(day).samples)
      expect(runAtOnce(readSamples(series[name], samples, reading))).toHaveLength(samples.length)
  })

  property('has no duplicate samples', (day) => {
    for (const { samples } of reportOf(day).samples)
      expect(new Set(samples.map(({ start_date, type }) => `${start_date} ${type}`)).size).toBe(samples.length)
  })

  property('covers the local date of the user', (day) => {
    const zoneAt = zoneClock(day.zone)
    const [from, to] = [startOf(day.date, zoneAt), startOf(dayAfter(day.date), zoneAt)]
    const report = reportOf(day)
    const times = ['heartrate', 'steps', 'glucose', 'calories_basal', 'water', 'workout_duration'].flatMap((name) =>
      samplesOf(report, name).map(({ start_date }) => Date.parse(start_date)),
    )
    expect(Math.min(...times)).toBe(from)
    expect(Math.max(...times)).toBeLessThan(to)
  })

  property('has samples that add up to the activity summary', (day) => {
    const report = reportOf(day)
    const activity = activityOf(report)
    expect(activity['steps_sum']).toBe(total(valuesOf(report, 'steps')))
    expect(activity['distance_sum']).toBeCloseTo(total(valuesOf(report, 'distance')), 1)
    expect(activity['active_energy_burned_sum']).toBeCloseTo(total(valuesOf(report, 'calories_active')), 1)
    expect(activity['basal_energy_burned_sum']).toBeCloseTo(total(valuesOf(report, 'calories_basal')), 1)
    expect(activity['floors_climbed_sum']).toBe(total(valuesOf(report, 'floors_climbed')))
    expect(activity['heart_rate_maximum']).toBe(Math.max(...valuesOf(report, 'heartrate')))
  })

  property('has a night of contiguous sleep stages', (day) => {
    const { start_date, end_date, sleep_stages } = nightOf(reportOf(day))
    const edges = sleep_stages.map(({ start_date, end_date }) => [start_date, end_date])
    expect(edges.map(([from]) => from)).toEqual([start_date, ...edges.slice(0, -1).map(([, to]) => to)])
    expect(edges.at(-1)?.[1]).toBe(end_date)
    expect(new Set(sleep_stages.map(({ stage }) => stage))).toEqual(new Set(['awake', 'light', 'deep', 'rem']))
    const hours = (Date.parse(end_date) - Date.parse(start_date)) / 3_600_000
    expect(hours).toBeGreaterThan(5.5)
    expect(hours).toBeLessThan(10)
  })

  property('has a higher heart rate during the workout than at night', (day) => {
    const report = reportOf(day)
    const { start_date, end_date } = report.summaries.workouts[0] as Night
    const heartRatesBetween = (from: string, to: string) =>
      samplesOf(report, 'heartrate').flatMap((sample) =>
        sample.start_date > from && sample.start_date <= to ? [sample.value as number] : [],
      )
    const night = nightOf(report)
    const least = (values: number[]) => Math.min(...values)
    expect(least(heartRatesBetween(start_date, end_date))).toBeGreaterThan(
      Math.max(...heartRatesBetween(night.start_date, night.end_date)) - 5,
    )
    expect(Math.max(...heartRatesBetween(start_date, end_date))).toBeGreaterThan(
      Math.max(...heartRatesBetween(night.start_date, night.end_date)) + 20,
    )
  })

  property('has a workout stream of equal-length lists within the workout', (day) => {
    const report = reportOf(day)
    const { start_date, end_date, distance } = report.summaries.workouts[0] as Night & { distance: number }
    const stream = report.streams[0]?.stream as Record<string, number[]>
    expect(new Set(Object.values(stream).map((list) => list.length)).size).toBe(1)
    expect(stream['time']?.[0]).toBe(Date.parse(start_date) / 1000)
    expect(stream['time']?.at(-1)).toBe(Date.parse(end_date) / 1000)
    expect(stream['distance']?.at(-1)).toBeCloseTo(distance, 1)
  })
})

test('sources agree on the night and workout and differ in heart rate', () => {
  const [fitbit, oura] = [reportOf({ source: 'fitbit' }), reportOf({ source: 'oura' })]
  const times = ({ start_date, end_date }: Night) => [start_date, end_date]
  expect(times(nightOf(fitbit))).toEqual(times(nightOf(oura)))
  expect(times(fitbit.summaries.workouts[0] as Night)).toEqual(times(oura.summaries.workouts[0] as Night))
  expect(valuesOf(fitbit, 'heartrate')).not.toEqual(valuesOf(oura, 'heartrate'))
})

test('a glucose sensor measures every five minutes and a meter four times a day', () => {
  expect(samplesOf(reportOf({ source: 'freestyle_libre' }), 'glucose')).toHaveLength(288)
  expect(samplesOf(reportOf({ source: 'fitbit' }), 'glucose')).toHaveLength(4)
})

test('samples come from a device type of the source', () => {
  const typesOf = (source: SourceSlug, name: string) => [...new Set(samplesOf(reportOf({ source }), name).map(({ type }) => type))]
  expect(typesOf('oura', 'heartrate')).toEqual(['ring'])
  expect(typesOf('withings', 'blood_pressure')).toEqual(['cuff'])
  expect(typesOf('freestyle_libre', 'glucose')).toEqual(['automatic'])
  expect(typesOf('fitbit', 'stand_hour').toSorted()).toEqual(['idle', 'stood'])
})

test('a day in progress contains only finished samples of the full day', () => {
  const noon = Date.parse('2026-03-02T12:00:00Z')
  const [half, whole] = [reportOf({ until: noon }), reportOf()]
  expect(samplesOf(half, 'heartrate')).toEqual(samplesOf(whole, 'heartrate').filter(({ start_date }) => Date.parse(start_date) <= noon))
  expect(samplesOf(half, 'steps')).toEqual(samplesOf(whole, 'steps').filter(({ end_date }) => Date.parse(end_date as string) <= noon))
  expect(half.summaries).toMatchObject({ workouts: [], electrocardiogram: [] })
  expect(half.summaries.sleep).toEqual(whole.summaries.sleep)
  expect(half.streams).toEqual([])
  expect(activityOf(half)['steps_sum']).toBe(total(valuesOf(half, 'steps')))
  expect(activityOf(half)['steps_sum']).toBeLessThan(activityOf(whole)['steps_sum'] as number)
})

test('days with a clock change have 23 or 25 hours and complete sums', () => {
  const zone = 'Europe/Berlin'
  for (const [date, hours] of [
    ['2026-03-29', 23],
    ['2026-10-25', 25],
  ] as const) {
    const report = reportOf({ date, zone })
    expect(samplesOf(report, 'calories_basal')).toHaveLength(hours)
    const next = startOf(dayAfter(date), zoneClock(zone))
    expect(Date.parse(samplesOf(report, 'heartrate').at(-1)?.start_date as string)).toBe(next - 5 * MINUTE)
    expect(activityOf(report)['steps_sum']).toBe(total(valuesOf(report, 'steps')))
  }
})

test('any 30 days contain a finished cycle and the current one', () => {
  const days = (user_id: string) => Array.from({ length: 30 }, (_, i) => ({ person: personOf(user_id), date: dayAfter('2026-02-01', i) }))
  fc.assert(
    fc.property(fc.uuid(), (user_id) => {
      const past = cyclesOf(days(user_id), false)
      expect(past.length).toBeGreaterThan(0)
      expect(past.every(({ cycle_end }) => cycle_end !== null)).toBe(true)
      const current = cyclesOf(days(user_id), true).at(-1)
      expect(current?.basal_body_temperature.at(-1)?.date).toBe('2026-03-02')
    }),
    { numRuns: 200 },
  )
})
