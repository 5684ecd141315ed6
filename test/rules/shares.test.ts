import { expect, test } from 'vitest'
import { newShares } from '../../src/delivery/webhooks/sending/shares.ts'

/** Takes everything that a team may have now. */
function takeAll(shares: ReturnType<typeof newShares>, team: string) {
  const room = shares.room(team)
  shares.take(team, room)
  return room
}

test('a team takes at most three quarters of what other teams leave', () => {
  const shares = newShares(256)
  expect(['a', 'b', 'c', 'd'].map((team) => takeAll(shares, team))).toEqual([192, 48, 12, 3])
  expect(shares.room('a')).toBe(0)
  shares.release('a', 192)
  expect(shares.total()).toBe(63)
})

test('busy teams end up with equal shares', () => {
  const shares = newShares(256)
  const held = new Map([['a', takeAll(shares, 'a')]])
  for (let round = 0; round < 500; round++)
    for (const team of ['a', 'b', 'c']) {
      const done = Math.min(10, held.get(team) ?? 0)
      shares.release(team, done)
      held.set(team, (held.get(team) ?? 0) - done + takeAll(shares, team))
    }
  const counts = [...held.values()]
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
  expect(shares.total()).toBeGreaterThan(220)
})

test('a team that holds its share is notified when there is room again', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const shares = newShares(4, resolve)
  for (const team of ['a', 'b']) takeAll(shares, team)
  expect(shares.room('a')).toBe(0)
  shares.release('b')
  await promise
  expect(shares.room('b')).toBeGreaterThan(0)
})

test('a team that holds nothing always goes on', () => {
  const shares = newShares(1)
  takeAll(shares, 'a')
  expect(shares.room('b')).toBe(1)
})
