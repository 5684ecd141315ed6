import { expect, test } from 'vitest'
import type { CursorPosition } from '../../src/contract/delivery/log-rows.ts'
import { followPositions } from '../../src/delivery/webhooks/sending/rules-positions.ts'

const at = '2026-01-01T00:00:00.000Z'
const cursorAt = (after_no: number, done: number[] = []): CursorPosition => ({ after_no, after_at: at, last_no: after_no, done })

test('a cursor stands before the first undecided message, and names the decided ones after it', () => {
  const positions = followPositions(cursorAt(10))
  const [first, second] = [11, 12].map((no) => positions.add({ no, at }))
  positions.decide(second as NonNullable<typeof second>)
  expect(positions.position()).toEqual(cursorAt(10, [12]))
  positions.decide(first as NonNullable<typeof first>)
  positions.skipTo({ no: 15, at })
  expect(positions.position()).toEqual({ after_no: 15, after_at: at, last_no: 12, done: [] })
})

test('messages that were decided before a take-over stay decided until they are read again', () => {
  const positions = followPositions(cursorAt(10, [12, 13]))
  expect(positions.position()).toEqual(cursorAt(10, [12, 13]))
  positions.add({ no: 11, at })
  expect(positions.add({ no: 12, at })?.isDecided).toBe(true)
  expect(positions.position()).toEqual(cursorAt(10, [12, 13]))
  positions.skipTo({ no: 20, at })
  expect(positions.position()).toEqual(cursorAt(10, [12]))
})
