import { expect, test } from 'vitest'
import { offsetAfter } from '../../src/operations/sandbox/rules.ts'

const wall = '2026-03-01T12:00:00.000Z'
const HOUR = 3_600_000

test.each([
  [0, { advance_seconds: 60 }, 60_000],
  [HOUR, { advance_seconds: 0.5 }, HOUR + 500],
  [0, { now: '2026-03-01T13:00:00.000Z' }, HOUR],
  [HOUR, { now: '2026-03-01T13:00:00.000Z' }, HOUR],
  [0, { now: '2999-12-31T23:59:59.999Z' }, Date.parse('2999-12-31T23:59:59.999Z') - Date.parse(wall)],
])('moves a clock offset of %d ms by %j to %d ms', (offset_ms, move, after) => {
  expect(offsetAfter(wall, offset_ms, move)).toBe(after)
})

test.each([
  [0, {}, 'Send either advance_seconds or now, not both.'],
  [0, { advance_seconds: 1, now: '2026-03-02T00:00:00.000Z' }, 'Send either advance_seconds or now, not both.'],
  [0, { now: '2026-03-01T11:59:59.999Z' }, 'The clock only moves forward'],
  [HOUR, { now: '2026-03-01T12:59:59.999Z' }, 'The clock only moves forward'],
  [0, { now: '3000-01-01T00:00:00.000Z' }, 'The clock cannot move past the year 2999.'],
  [0, { advance_seconds: 40_000_000_000 }, 'The clock cannot move past the year 2999.'],
])('does not move a clock offset of %d ms by %j: %s', (offset_ms, move, why) => {
  expect(() => offsetAfter(wall, offset_ms, move)).toThrow(why)
})
