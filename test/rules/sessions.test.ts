import { describe, expect, test } from 'vitest'
import { idleEnd, isExpired, reasonIn, shouldRecordUse } from '../../src/tenants/people/sessions/rules.ts'

const limits = { CONSOLE_IDLE_MINUTES: 30 }
const session = { seen_at: '2026-03-01T12:00:00.000Z', ends_at: '2026-03-01T20:00:00.000Z' }

test.each([
  ['2026-03-01T12:00:00.000Z', false],
  ['2026-03-01T12:00:29.999Z', false],
  ['2026-03-01T12:00:30.000Z', true],
  ['2026-03-01T13:00:00.000Z', true],
])('the use of a session at noon is recorded again at %s: %s', (now, recorded) => {
  expect(shouldRecordUse(session, now)).toBe(recorded)
})

describe('a session that was used at noon', () => {
  test.each([
    ['2026-03-01T12:29:59.999Z', false],
    ['2026-03-01T12:30:00.000Z', true],
  ])('is expired at %s: %s', (now, expired) => {
    expect(isExpired(limits, session, now)).toBe(expired)
  })

  test('ends with the session before its idle time', () => {
    expect(idleEnd(limits, { ...session, ends_at: '2026-03-01T12:10:00.000Z' })).toBe('2026-03-01T12:10:00.000Z')
  })
})

describe('the reason for revealing personal data', () => {
  const read = (reason: string) => reasonIn({ 'x-assay-reveal': encodeURIComponent(reason) })

  test.each(['ask', 'x'.repeat(200)])('may be %j', (reason) => {
    expect(read(` ${reason} `)).toBe(reason)
  })

  test.each(['as', ' as ', 'x'.repeat(201)])('may not be %j', (reason) => {
    expect(() => read(reason)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})
