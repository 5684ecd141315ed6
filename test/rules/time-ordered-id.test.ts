import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeOfId, timeOrderedId } from '../../src/platform/db/time-ordered-id.ts'
import { newUuid } from '../support/seeded.ts'

const anInstant = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString())

test('IDs of different times sort like the times', () => {
  fc.assert(
    fc.property(anInstant, anInstant, (a, b) => {
      fc.pre(a !== b)
      expect(timeOrderedId(a) < timeOrderedId(b)).toBe(a < b)
    }),
  )
})

test('an ID is a UUID of version 7, and no two are the same', () => {
  const ids = Array.from({ length: 100 }, () => timeOrderedId('2026-03-01T09:30:00.000Z'))
  expect(new Set(ids)).toHaveLength(100)
  for (const id of ids) expect(id).toMatch(/^019ca8bb-b5c0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('an ID tells its time, and a random one tells none', () => {
  fc.assert(
    fc.property(anInstant, (at) => {
      expect(timeOfId(timeOrderedId(at))).toBe(Date.parse(at))
    }),
  )
  expect(timeOfId(newUuid())).toBeUndefined()
})
