import { describe, expect, test } from 'vitest'
import { type SourceSlug, sourceSlugs } from '../../src/contract/tenants/sources.ts'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'
import { zoneClock } from '../../src/wearables/data/rules-time.ts'
import { readSamples } from '../../src/wearables/data/samples/rules-samples.ts'
import { dayAfter, startOf } from '../../src/wearables/providers/demo/rules-day.ts'
import { personOf } from '../../src/wearables/providers/demo/rules-person.ts'
import { demoReport } from '../../src/wearables/providers/demo/rules-report.ts'
import { cyclesOf } from '../../src/wearables/providers/demo/series/rules-cycle.ts'
import { fc } from '../support/properties.ts'

const DAY = 86_400_000
const MINUTE = 60_000

type Asked = { source: SourceSlug; user_id: string; date: string; zone: string; until: number }

/** One day, told once it is over unless it is said otherwise. */
function reportOf({
  source = 'fitbit',
  user_id = 'c0ffee00-0000-4000-8000-000000000001',
  date = '2026-03-02',
  ...more
}: Partial<Asked> = {}) {
  const { zone = 'UTC', until = Date.parse(date) + 3 * DAY } = more
  return demoReport({ source, user_id, dates: [date], zoneAt: zoneClock(zone), until, isLive: true })
}

type Report = ReturnType<typeof reportOf>

const samplesOf = ({ samples }: Report, name: string) => samples.find((one) => one.name === name)?.samples ?? []
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

const property = (name: string, check: (asked: Omit<Asked, 'until'>) => void) =>
  test(name, () => fc.assert(fc.property(someDay, check), { numRuns: 40 }))

describe('a day of the demo', () => {
  property('is the same every time', (asked) => {
    expect(reportOf(asked)).toEqual(reportOf(asked))
  })

  property('has at least one sample of each resource and one summary of each kind, whatever the source', (asked) => {
    const report = reportOf(asked)
    const bodies = Object.keys(report.summaries.body[0] as object)
    expect(bodies).toEqual(['source_type', 'body_mass', 'body_fat_percentage', 'body_mass_index', 'lean_body_mass', 'waist_circumference'])
    const brought = ['body_weight', 'body_fat', 'body_mass_index', 'lean_body_mass', 'waist_circumference', 'hypnogram']
    expect([...report.samples.map(({ name }) => name), ...brought].sort()).toEqual(seriesNames.toSorted())
    expect(report.samples.filter(({ samples }) => !samples.length).map(({ name }) => name)).toEqual([])
    expect(Object.entries(report.summaries).filter(([, items]) => !items.length)).toEqual([])
    expect(report.streams).toHaveLength(1)
  })

  property('keeps to the units and bounds of the table of resources', (asked) => {
    const reading = { loc: ['body', 'data'], zoneAt: () => 0, now: Date.parse(asked.date) + 3 * DAY, version: null }
    for (const { name, samples } of reportOf(asked).samples)
      expect(readSamples(series[name], samples, reading)).toHaveLength(samples.length)
  })

  property('names each sample once', (asked) => {
    for (const { samples } of reportOf(asked).samples)
      expect(new Set(samples.map(({ start_date, type }) => `${start_date} ${type}`)).size).toBe(samples.length)
  })

  property('lies on its own date where the user is, but for the night before', (asked) => {
    const zoneAt = zoneClock(asked.zone)
    const [from, to] = [startOf(asked.date, zoneAt), startOf(dayAfter(asked.date), zoneAt)]
    const report = reportOf(asked)
    const times = ['heartrate', 'steps', 'glucose', 'calories_basal', 'water', 'workout_duration'].flatMap((name) =>
      samplesOf(report, name).map(({ start_date }) => Date.parse(start_date)),
    )
    expect(Math.min(...times)).toBe(from)
    expect(Math.max(...times)).toBeLessThan(to)
  })

  property('sums up to its activity', (asked) => {
    const report = reportOf(asked)
    const day = activityOf(report)
    expect(day['steps_sum']).toBe(total(valuesOf(report, 'steps')))
    expect(day['distance_sum']).toBeCloseTo(total(valuesOf(report, 'distance')), 1)
    expect(day['active_energy_burned_sum']).toBeCloseTo(total(valuesOf(report, 'calories_active')), 1)
    expect(day['basal_energy_burned_sum']).toBeCloseTo(total(valuesOf(report, 'calories_basal')), 1)
    expect(day['floors_climbed_sum']).toBe(total(valuesOf(report, 'floors_climbed')))
    expect(day['heart_rate_maximum']).toBe(Math.max(...valuesOf(report, 'heartrate')))
  })

  property('has a night whose stages follow on each other without a gap', (asked) => {
    const { start_date, end_date, sleep_stages } = nightOf(reportOf(asked))
    const edges = sleep_stages.map(({ start_date, end_date }) => [start_date, end_date])
    expect(edges.map(([from]) => from)).toEqual([start_date, ...edges.slice(0, -1).map(([, to]) => to)])
    expect(edges.at(-1)?.[1]).toBe(end_date)
    expect(new Set(sleep_stages.map(({ stage }) => stage))).toEqual(new Set(['awake', 'light', 'deep', 'rem']))
    const hours = (Date.parse(end_date) - Date.parse(start_date)) / 3_600_000
    expect(hours).toBeGreaterThan(5.5)
    expect(hours).toBeLessThan(10)
  })

  property('has a heart that beats faster in the workout than at night', (asked) => {
    const report = reportOf(asked)
    const { start_date, end_date } = report.summaries.workouts[0] as Night
    const during = (from: string, to: string) =>
      samplesOf(report, 'heartrate').flatMap((sample) =>
        sample.start_date > from && sample.start_date <= to ? [sample.value as number] : [],
      )
    const night = nightOf(report)
    const least = (values: number[]) => Math.min(...values)
    expect(least(during(start_date, end_date))).toBeGreaterThan(Math.max(...during(night.start_date, night.end_date)) - 5)
    expect(Math.max(...during(start_date, end_date))).toBeGreaterThan(Math.max(...during(night.start_date, night.end_date)) + 20)
  })

  property('has a stream of lists of the same length, within the workout', (asked) => {
    const report = reportOf(asked)
    const { start_date, end_date, distance } = report.summaries.workouts[0] as Night & { distance: number }
    const stream = report.streams[0]?.stream as Record<string, number[]>
    expect(new Set(Object.values(stream).map((list) => list.length)).size).toBe(1)
    expect(stream['time']?.[0]).toBe(Date.parse(start_date) / 1000)
    expect(stream['time']?.at(-1)).toBe(Date.parse(end_date) / 1000)
    expect(stream['distance']?.at(-1)).toBeCloseTo(distance, 1)
  })
})

test('sources tell of the same night and workout, each with errors of its own', () => {
  const [one, other] = [reportOf({ source: 'fitbit' }), reportOf({ source: 'oura' })]
  const times = ({ start_date, end_date }: Night) => [start_date, end_date]
  expect(times(nightOf(one))).toEqual(times(nightOf(other)))
  expect(times(one.summaries.workouts[0] as Night)).toEqual(times(other.summaries.workouts[0] as Night))
  expect(valuesOf(one, 'heartrate')).not.toEqual(valuesOf(other, 'heartrate'))
})

test('a sensor measures glucose every five minutes, a meter a few times', () => {
  expect(samplesOf(reportOf({ source: 'freestyle_libre' }), 'glucose')).toHaveLength(288)
  expect(samplesOf(reportOf({ source: 'fitbit' }), 'glucose')).toHaveLength(4)
})

test('samples come from a device that the source has', () => {
  const typesOf = (source: SourceSlug, name: string) => [...new Set(samplesOf(reportOf({ source }), name).map(({ type }) => type))]
  expect(typesOf('oura', 'heartrate')).toEqual(['ring'])
  expect(typesOf('withings', 'blood_pressure')).toEqual(['cuff'])
  expect(typesOf('freestyle_libre', 'glucose')).toEqual(['automatic'])
  expect(typesOf('fitbit', 'stand_hour').toSorted()).toEqual(['idle', 'stood'])
})

test('a day that is not over tells what has ended, and grows into the whole day', () => {
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

test('days on which the clocks change neither overlap nor leave anything out of their sums', () => {
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

test('any 30 days have a cycle that ended in them, and the current one besides', () => {
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
