import { describe, expect, test } from 'vitest'
import { newSummaries, pulledSummaries } from '../../src/contract/wearables/new-summaries.ts'
import { buildBody } from '../../src/wearables/data/summaries/rules-activity.ts'
import { buildSleep } from '../../src/wearables/data/summaries/rules-sleep.ts'
import type { BuildContext } from '../../src/wearables/data/summaries/rules-summary.ts'
import * as rules from '../../src/wearables/ingestion/rules.ts'
import { parseGrant } from '../../src/wearables/providers/rules-oauth.ts'

const context: BuildContext = {
  ...{ now: Date.parse('2026-03-10T00:00:00Z'), time_zone: 'Europe/Berlin', version: null },
  zoneAt: () => 3600,
  idOf: (_, external) => external,
  samples: [],
}
const noFault = (field: string, msg: string) => {
  throw new Error(`${field}: ${msg}`)
}
const night = { start_date: '2026-03-01T23:00:00+01:00', end_date: '2026-03-02T07:00:00+01:00' }

describe('a sleep with totals of the source', () => {
  const fieldsOf = (change: object) => {
    const item = pulledSummaries.sleep.parse({ ...night, ...change })
    return buildSleep(item, item, context, noFault).drafts[0]?.fields
  }

  test('has lengths without a timeline', () => {
    expect(fieldsOf({ total: 25_200, awake: 3600, light: 15_000, deep: 5000, rem: 5200 })).toMatchObject({
      ...{ duration: 28_800, total: 25_200, awake: 3600, light: 15_000, deep: 5000, rem: 5200, efficiency: 87.5 },
    })
  })

  test('prefers the totals, the efficiency and RMSSD of the source', () => {
    const sleep_stages = [{ stage: 'deep', start_date: night.start_date, end_date: night.end_date }]
    expect(fieldsOf({ sleep_stages, total: 20_000, efficiency: 70, hrv_mean_rmssd: 61, hrv_mean_sdnn: 50 })).toMatchObject({
      ...{ total: 20_000, deep: 28_800, efficiency: 70, average_hrv: 61 },
    })
  })

  test('a client cannot push totals', () => {
    expect(newSummaries.sleep.parse({ ...night, total: 1 })).not.toHaveProperty('total')
  })
})

test('body composition fills the day of the user, from the last measurement', () => {
  const at = (start_date: string, field: string, value: number) => ({ field, value, start_date })
  const composition = [
    at('2026-03-01T07:00:00+01:00', 'muscle_mass_percentage', 41),
    at('2026-03-01T20:00:00+01:00', 'muscle_mass_percentage', 42),
    at('2026-03-01T08:00:00+01:00', 'water_percentage', 55),
    at('2026-03-01T23:30:00Z', 'bone_mass_percentage', 4),
  ]
  const { drafts } = buildBody(pulledSummaries.body.parse({ composition }), {}, context, noFault)
  const values = drafts.map(({ calendar_date, parts = {} }) => [
    calendar_date,
    Object.fromEntries(Object.entries(parts).map(([name, { value }]) => [name, value])),
  ])
  expect(values).toEqual([
    ['2026-03-01', { muscle_mass_percentage: 42, water_percentage: 55 }],
    ['2026-03-02', { bone_mass_percentage: 4 }],
  ])
})

describe('windows', () => {
  const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T00:00:00.000Z`

  test('the history is read newest first, until nothing is left', () => {
    expect(rules.nextWindow({ from: day(1), to: day(20) }, 7)).toEqual({ from: day(13), to: day(20) })
    expect(rules.nextWindow({ from: day(1), to: day(5) }, 7)).toEqual({ from: day(1), to: day(5) })
    expect(rules.nextWindow({ from: day(1), to: day(1) }, 7)).toBeUndefined()
    expect(rules.nextWindow({ from: null, to: null }, 7)).toBeUndefined()
  })

  test('new data is read since the last time, and at least the trailing days', () => {
    expect(rules.liveWindow(null, 2, day(10))).toEqual({ from: day(8), to: day(10) })
    expect(rules.liveWindow(day(9), 2, day(10))).toEqual({ from: day(8), to: day(10) })
    expect(rules.liveWindow(day(3), 2, day(10))).toEqual({ from: day(3), to: day(10) })
  })

  test('windows of changes are joined, and long ones are split', () => {
    expect(
      rules.joinWindows([
        { from: day(9), to: day(9) },
        { from: day(1), to: day(2) },
        { from: day(3), to: day(4) },
      ]),
    ).toEqual([
      { from: day(1), to: day(4) },
      { from: day(9), to: day(9) },
    ])
    expect(rules.splitWindow({ from: day(1), to: day(10) }, 4)).toEqual([
      { from: day(6), to: day(10) },
      { from: day(2), to: day(6) },
      { from: day(1), to: day(2) },
    ])
  })
})

test('tokens in an envelope and errors with status 200 follow the rules of the source', () => {
  const tokenRules = { scopeOf: (name: string) => name.replace('x:', '') }
  const client = { account_field: 'userid', tokenRules } as Parameters<typeof parseGrant>[0]
  expect(parseGrant(client, { access_token: 'a', userid: 7, scope: 'x:one,two' }, [])).toMatchObject({
    external_user_id: '7',
    granted: ['one', 'two'],
  })
})
