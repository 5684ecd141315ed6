import { expect, test } from 'vitest'
import type { CursorPosition } from '../../src/contract/delivery/log-rows.ts'
import { followPositions, type Place } from '../../src/delivery/webhooks/sending/rules-positions.ts'

const at = '2026-01-01T00:00:00.000Z'
const cursorAt = (after_no: number, done: number[] = []): CursorPosition => ({ after_no, after_at: at, last_no: after_no, done })

test('a cursor stands before the first undecided message, and names the decided ones after it', () => {
  const positions = followPositions(cursorAt(10))
  const [first, second] = [11, 12].map((no) => positions.add({ no, at }))
  positions.decide(second as Place)
  expect(positions.position()).toEqual(cursorAt(10, [12]))
  positions.decide(first as Place)
  positions.skipTo({ no: 15, at })
  expect(positions.position()).toEqual({ after_no: 15, after_at: at, last_no: 12, done: [] })
})

test('messages that were decided before a take-over stay decided until they are read again', () => {
  const positions = followPositions(cursorAt(10, [12, 13]))
  expect(positions.position()).toEqual(cursorAt(10, [12, 13]))
  positions.add({ no: 11, at })
  expect(positions.add({ no: 12, at })).toBeUndefined()
  expect(positions.position()).toEqual(cursorAt(10, [12, 13]))
  positions.skipTo({ no: 20, at })
  expect(positions.position()).toEqual(cursorAt(10, [12]))
})

test('after a rewind, undecided messages are read again, apart from those that are being sent', () => {
  const positions = followPositions(cursorAt(10))
  const [, second, third, fourth] = [11, 12, 13, 14].map((no) => positions.add({ no, at }) as Place)
  positions.decide(second as Place)
  positions.rewind((place) => place === third || place === fourth)
  expect([positions.read().no, positions.position()]).toEqual([10, cursorAt(10, [12])])
  positions.decide(third as Place)
  expect(positions.position()).toEqual(cursorAt(10, [12, 13]))
  const again = [11, 12, 13, 14, 15].map((no) => positions.add({ no, at }))
  expect(again.map((place) => place && [place.no, place.previous])).toEqual([[11, 10], undefined, undefined, undefined, [15, 14]])
  for (const place of [again[0], fourth]) positions.decide(place as Place)
  expect(positions.position()).toEqual({ after_no: 14, after_at: at, last_no: 14, done: [] })
})
