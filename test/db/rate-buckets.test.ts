import { array, assert, asyncProperty, integer, record } from 'fast-check'
import { expect, test } from 'vitest'
import { later } from '../../src/platform/time.ts'
import { leaseTokens } from '../../src/tenants/rates/store.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const { app, team_id } = await world()

const steps = array(
  record({ waitMs: integer({ min: 0, max: 3000 }), wanted: integer({ min: 1, max: 30 }), returned: integer({ min: 0, max: 5 }) }),
  {
    minLength: 1,
    maxLength: 20,
  },
)

test('leases of any size, at any time, never exceed the burst and the rate', async () => {
  const rates = record({ perSecond: integer({ min: 1, max: 20 }), burst: integer({ min: 1, max: 40 }) })
  const property = asyncProperty(rates, steps, async (rate, steps) => {
    const subject_id = newUuid()
    const start = '2026-03-01T12:00:00.000Z'
    let [elapsedMs, held, used] = [0, 0, 0]
    for (const { waitMs, wanted, returned } of steps) {
      elapsedMs += waitMs
      const back = Math.min(returned, held)
      const at = later(start, elapsedMs)
      const { granted, tokens } = await leaseTokens(app.db, { team_id, subject_id, ...rate, wanted, returned: back, at })
      held += granted - back
      used += granted - back
      expect(granted).toBeLessThanOrEqual(wanted)
      expect(tokens).toBeGreaterThanOrEqual(0)
      expect(tokens).toBeLessThanOrEqual(rate.burst)
      expect(used).toBeLessThanOrEqual(rate.burst + (rate.perSecond * elapsedMs) / 1000 + 1e-6)
    }
  })
  await assert(property, { numRuns: 40 })
})

test('a clock that goes back adds no tokens', async () => {
  const bucket = { team_id, subject_id: newUuid(), perSecond: 10, burst: 10, returned: 0 }
  const lease = (wanted: number, at: string) => leaseTokens(app.db, { ...bucket, wanted, at })
  expect(await lease(10, '2026-03-01T12:00:10.000Z')).toEqual({ granted: 10, tokens: 0 })
  expect(await lease(10, '2026-03-01T12:00:00.000Z')).toEqual({ granted: 0, tokens: 0 })
  expect(await lease(10, '2026-03-01T12:00:10.500Z')).toEqual({ granted: 5, tokens: 0 })
})
