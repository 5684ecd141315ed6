import { describe, expect, test } from 'vitest'
import { countryCode, stateCode, stateOfZip, zipMatches } from '../../src/labs/geography/rules-states.ts'
import { dayIn, startOfDay, wallTime, zoneOf } from '../../src/labs/geography/rules-zones.ts'
import { canActivateOn } from '../../src/labs/orders/checks/rules-schedule.ts'
import { isFullRun } from '../support/full-run.ts'

const inUS = (state: string, zip: string) => zoneOf({ state, zip, country: 'US' })

describe('state codes', () => {
  test.each([
    ['CA', 'CA'],
    ['ca', 'CA'],
    [' California ', 'CA'],
    ['NORTH  dakota', 'ND'],
    ['District of Columbia', 'DC'],
    ['Washington, D.C.', 'DC'],
    ['US-TX', 'TX'],
    ['Puerto Rico', 'PR'],
    ['U.S. Virgin Islands', 'VI'],
    ['gu', 'GU'],
    ['American Samoa', 'AS'],
    ['MP', 'MP'],
  ])('reads %s as %s', (text, code) => expect(stateCode(text)).toBe(code))

  test.each(['', 'XX', 'Calif', 'Bavaria', 'C A', '加州'])('rejects %s', (text) => expect(stateCode(text)).toBeUndefined())
})

describe('country codes', () => {
  test.each([
    ['US', 'US'],
    ['U.S.', 'US'],
    ['usa', 'US'],
    ['United States', 'US'],
    ['United States of America', 'US'],
    ['de', 'DE'],
    ['PR', 'PR'],
  ])('reads %s as %s', (text, code) => expect(countryCode(text)).toBe(code))

  test.each(['', 'QQ', 'Germany', 'USSR'])('does not recognize %s', (text) => expect(countryCode(text)).toBeUndefined())
})

describe('ZIP codes and states', () => {
  test.each([
    ['NY', '00501'],
    ['AS', '96799'],
    ['GU', '96910'],
    ['MA', '05501'],
    ['TX', '73301'],
    ['DC', '20001-1234'],
  ])('ZIP code of %s: %s', (state, zip) => expect(zipMatches(state, zip)).toBe(true))

  test.each([
    ['CA', '10001'],
    ['VT', '05501'],
    ['OK', '73301'],
    ['DC', '20101'],
  ])('not a ZIP code of %s: %s', (state, zip) => expect(zipMatches(state, zip)).toBe(false))

  test('derives the state from a ZIP code', () => {
    expect(stateOfZip('94110')).toBe('CA')
    expect(stateOfZip('00999')).toBe('PR')
    expect(stateOfZip('00000')).toBeUndefined()
  })
})

describe('time zone of an order', () => {
  test.each([
    ['CA', '94110', 'America/Los_Angeles'],
    ['texas', '75001', 'America/Chicago'],
    ['TX', '79901', 'America/Denver'],
    ['FL', '33101', 'America/New_York'],
    ['FL', '32501', 'America/Chicago'],
    ['IN', '46204', 'America/Indiana/Indianapolis'],
    ['IN', '46402', 'America/Chicago'],
    ['KY', '42001', 'America/Chicago'],
    ['TN', '37201', 'America/Chicago'],
    ['TN', '37902', 'America/New_York'],
    ['MI', '49938', 'America/Menominee'],
    ['MI', '49931', 'America/Detroit'],
    ['ID', '83814', 'America/Los_Angeles'],
    ['OR', '97914', 'America/Boise'],
    ['AZ', '85004', 'America/Phoenix'],
    ['AZ', '86503', 'America/Denver'],
    ['HI', '96813', 'Pacific/Honolulu'],
    ['Guam', '96910', 'Pacific/Guam'],
    ['AS', '96799', 'Pacific/Pago_Pago'],
  ])('is derived from %s %s: %s', (state, zip, zone) => expect(inUS(state, zip)).toBe(zone))

  test('is derived from the ZIP code if the state is unknown', () => expect(inUS('Calif.', '94110')).toBe('America/Los_Angeles'))

  test('falls back to the time zone of the team abroad, then to UTC', () => {
    const perth = { state: 'WA', zip: '60001', country: 'AU' }
    expect(zoneOf(perth, 'Australia/Perth')).toBe('Australia/Perth')
    expect(zoneOf(perth)).toBe('UTC')
    expect(zoneOf({ state: 'Berlin', zip: '10115', country: 'Germany' })).toBe('UTC')
    expect(zoneOf({ state: 'PR', zip: '00901', country: 'PR' }, 'Australia/Perth')).toBe('America/Puerto_Rico')
  })

  test('exists for every state', () => {
    const zones = Array.from({ length: 1000 }, (_, i) => stateOfZip(String(i).padStart(3, '0'))).flatMap((state) => state ?? [])
    expect(new Set(zones).size).toBe(54)
    for (const state of new Set(zones)) expect(dayIn(inUS(state, '00000'), '2026-01-01T12:00:00Z')).toMatch(/^2026-01-0[12]$/)
  })
})

describe('start of day', () => {
  test.each([
    ['2026-01-01', 'America/Los_Angeles', '2026-01-01T08:00:00.000Z'],
    ['2026-07-01', 'America/Los_Angeles', '2026-07-01T07:00:00.000Z'],
    ['2026-03-08', 'America/New_York', '2026-03-08T05:00:00.000Z'],
    ['2026-03-09', 'America/New_York', '2026-03-09T04:00:00.000Z'],
    ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z'],
    ['2026-11-02', 'America/New_York', '2026-11-02T05:00:00.000Z'],
    ['2026-01-01', 'Pacific/Honolulu', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01', 'Pacific/Guam', '2025-12-31T14:00:00.000Z'],
    ['2026-01-01', 'Pacific/Pago_Pago', '2026-01-01T11:00:00.000Z'],
    ['2026-01-01', 'UTC', '2026-01-01T00:00:00.000Z'],
    // Daylight saving time skips midnight.
    ['2023-03-12', 'America/Havana', '2023-03-12T05:00:00.000Z'],
    // Midnight occurs twice.
    ['2023-11-05', 'America/Havana', '2023-11-05T04:00:00.000Z'],
  ])('%s in %s starts at %s', (day, zone, instant) => {
    expect(startOfDay(day, zone)).toBe(instant)
    expect(dayIn(zone, instant)).toBe(day)
    expect(dayIn(zone, new Date(Date.parse(instant) - 1).toISOString()) < day).toBe(true)
  })
})

describe('activate_by', () => {
  test.each([
    ['2025-12-31', 'America/Los_Angeles', true],
    ['2025-12-30', 'America/Los_Angeles', false],
    ['2025-12-31', 'Pacific/Honolulu', true],
    ['2025-12-31', 'Pacific/Guam', false],
    ['2026-01-01', 'Pacific/Guam', true],
  ])('%s in %s on 2026-01-01 at 02:00 UTC is accepted: %s', (day, zone, accepted) =>
    expect(canActivateOn(day, '2026-01-01T02:00:00.000Z', zone)).toBe(accepted),
  )

  test('accepts the current UTC day if the patient is a day ahead', () => {
    expect(dayIn('Pacific/Guam', '2026-01-01T20:00:00.000Z')).toBe('2026-01-02')
    expect(canActivateOn('2026-01-01', '2026-01-01T20:00:00.000Z', 'Pacific/Guam')).toBe(true)
  })
})

test.each([
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Pacific/Apia',
  'Asia/Pyongyang',
  'Africa/Casablanca',
])('local time in %s is what Intl says, also around changes of the offset', (timeZone) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const expected = (ms: number) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`)
  // Steps that are no multiple of an hour reach every part of one.
  const step = 61 * 60_000 * (isFullRun ? 7 : 29) + 13_337
  for (let ms = Date.UTC(1999, 11, 30); ms < Date.UTC(2031, 0, 1); ms += step) expect(wallTime(timeZone, ms)).toBe(expected(ms))
})
