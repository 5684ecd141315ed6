import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/platform/problem.ts'
import { checkTimeZone } from '../../src/platform/time.ts'
import * as rules from '../../src/tenants/users/rules.ts'
import { people } from '../support/people.ts'

/** The problem that a rule throws, if any. */
function problemOf(rule: () => unknown) {
  try {
    rule()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  return undefined
}

describe('client_user_id', () => {
  test.each([
    'jo@clinic.example',
    ' jo@clinic.example ',
    'a@b',
    '+14155550100',
    '+49 30 1234567',
    '(415) 555-0100',
    '415.555.0100',
    '415 555 0100',
    '1-415-555-0100',
    '555-0100',
    'john＠example.com',
    'john doe john@example.com',
    'mailto:a@b.example',
    'v1.2@build',
    '+1\u2011415\u2011555\u20112671',
    '(415) 555\u20132671',
    '415\u2212555\u22122671',
    '\u202a+14155552671\u202c',
    '+1\u00a0415\u00a0555\u00a02671',
    'tel:+14155552671',
    'tel:4155552671',
    'SMS: 415 555 2671',
    '+1/415/555/2671',
  ])('rejects the personal value %s', (id) => {
    const problem = problemOf(() => rules.checkClientUserId(id))
    expect(problem?.kind).toBe('refused')
    expect(problem?.message).not.toContain(id.trim())
  })
  test.each([
    '4155550100',
    '1234567',
    '2024-01-15',
    '12-34',
    '+1',
    '+team',
    'user@',
    '@user',
    '@handle',
    'a@',
    'tel',
    'tel:desk-5',
    'mailto:',
    'build@ 1.2',
    '2024/01/15',
    '10.0.0.1',
    'a b@c d',
    'patient 17',
    '3f0c1f5e-8f0e-4d5e-9d39-0242ac120002',
    '1234-5678-9012-3456',
  ])('accepts %s', (id) => {
    expect(problemOf(() => rules.checkClientUserId(id))).toBeUndefined()
  })
})

describe('time zones', () => {
  test.each([
    'UTC',
    'Etc/UTC',
    'Europe/Berlin',
    'America/Port-au-Prince',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'US/Eastern',
    'GMT',
  ])('accept %s', (zone) => expect(problemOf(() => checkTimeZone(zone, ['body', 'fallback_time_zone']))).toBeUndefined())
  test.each([
    '',
    'utc',
    'europe/berlin',
    '+02:00',
    '-0500',
    'Mars/Olympus',
    'Europe/',
    '/Berlin',
    'Europe/Berlin ',
    'Europe//Berlin',
    'CEST',
  ])('reject %s', (zone) =>
    expect(problemOf(() => checkTimeZone(zone, ['body', 'fallback_time_zone']))).toMatchObject({
      kind: 'invalid',
      detail: [{ loc: ['body', 'fallback_time_zone'] }],
    }),
  )
})

test.each([
  ['1850-01-01', true],
  ['2026-03-01', true],
  ['2026-03-02', false],
  ['1849-12-31', false],
  ['0001-01-01', false],
])('accepts the birth date %s on 2026-03-01: %s', (day, possible) => {
  expect(problemOf(() => rules.checkBirthDate('fallback_birth_date', day, '2026-03-01')) === undefined).toBe(possible)
})

describe('ingestion bounds', () => {
  test.each([
    ['2026-01-01', '2026-01-01T00:00:00.000Z', '2026-01-01T23:59:59.999Z'],
    ['2026-01-01T12:00:00Z', '2026-01-01T12:00:00.000Z', '2026-01-01T12:00:00.000Z'],
    ['2026-01-01T00:30:00+02:00', '2025-12-31T22:30:00.000Z', '2025-12-31T22:30:00.000Z'],
  ])('read %s as %s at the start and %s at the end', (bound, start, end) => {
    expect([rules.boundStart(bound), rules.boundEnd(bound)]).toEqual([start, end])
  })
  const check = (start: string | null, end: string | null) =>
    problemOf(() => rules.checkBounds(start && rules.boundStart(start), end && rules.boundEnd(end)))
  test.each([
    [null, null],
    ['2026-01-01', null],
    [null, '2026-01-01'],
    ['2026-01-01', '2026-01-01'],
    ['1900-01-01', '9999-12-31'],
    ['2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z'],
  ])('accept %s to %s', (start, end) => {
    expect(check(start, end)).toBeUndefined()
  })
  test.each([
    ['2026-01-02', '2026-01-01', 'ingestion_end'],
    ['2026-01-01T12:00:00Z', '2026-01-01T13:00:00+02:00', 'ingestion_end'],
    ['0000-01-01', null, 'ingestion_start'],
    ['1899-12-31', null, 'ingestion_start'],
    [null, '0001-01-01', 'ingestion_end'],
    [null, '9999-12-31T23:59:59-05:00', 'ingestion_end'],
  ])('reject %s to %s and name %s', (start, end, field) => {
    expect(check(start, end)).toMatchObject({ kind: 'invalid', detail: [{ loc: ['body', field] }] })
  })
})

test('undoing a deletion requires exactly one ID', () => {
  expect(problemOf(() => rules.checkUndoQuery({ user_id: 'u' }))).toBeUndefined()
  expect(problemOf(() => rules.checkUndoQuery({ user_id: null, client_user_id: 'c' }))).toBeUndefined()
  expect(problemOf(() => rules.checkUndoQuery({}))).toMatchObject({ kind: 'invalid' })
  expect(problemOf(() => rules.checkUndoQuery({ user_id: 'u', client_user_id: 'c' }))).toMatchObject({ kind: 'invalid' })
})

test('indexes a person by name, contacts, birth date and the phone number without its country code', () => {
  const [zephyrine] = people
  expect(new Set(rules.searchableTexts(zephyrine))).toEqual(new Set([...Object.values(zephyrine), '2025550143']))
})
