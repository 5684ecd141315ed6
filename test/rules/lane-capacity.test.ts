import { expect, test } from 'vitest'
import { laneCapacity } from '../../src/delivery/webhooks/sending/lane-capacity.ts'

test('a team takes at most three quarters of the lanes that other teams leave', () => {
  const capacity = laneCapacity()
  expect(['a', 'b', 'c', 'd'].map((team) => capacity.reserve(team).limit)).toEqual([192, 48, 12, 3])
  expect(capacity.reserve('a').limit).toBe(0)
  capacity.release('a', 192)
  expect(capacity.total()).toBe(63)
})

test('busy teams end up with equal shares', () => {
  const capacity = laneCapacity()
  const held = new Map([['a', capacity.reserve('a').limit]])
  for (let round = 0; round < 500; round++)
    for (const team of ['a', 'b', 'c']) {
      const done = Math.min(10, held.get(team) ?? 0)
      capacity.release(team, done)
      held.set(team, (held.get(team) ?? 0) - done + capacity.reserve(team).limit)
    }
  const shares = [...held.values()]
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(2)
  expect(capacity.total()).toBeGreaterThan(220)
})

test('a webhook takes at most half of the free lanes, and never more than 64', () => {
  const capacity = laneCapacity()
  expect(['a', 'b', 'c'].map((team) => capacity.reserve(team).per_webhook)).toEqual([64, 32, 8])
})
