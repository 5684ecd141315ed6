import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { largestTurn, smallestOfThree } from '../support/event-loop.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { aSample } from '../support/wearables.ts'
import { world } from '../support/world.ts'

const w = await world()

const dateAt = (ms: number) => new Date(Date.parse('2014-01-01') + ms).toISOString()
const series = (count: number, intervalMs: number, change: object = {}) =>
  Array.from({ length: count }, (_, i) => aSample(dateAt(i * intervalMs), 50 + (i % 90), change))

async function expectSmallTurns(path: (user_id: string) => string, data: unknown[], maxPart: number) {
  const headers = { 'x-service-api-key': w.team_api_key, 'content-encoding': 'gzip' }
  const body = gzipSync(JSON.stringify({ provider: 'freestyle_libre', data }))
  const push = async () => {
    const url = `${w.base}${path(await aUser(w.api))}`
    return largestTurn(async () => {
      expect((await sendRaw(url, 'POST', { headers, body })).status).toBe(200)
    })
  }
  expect(await smallestOfThree(maxPart, push)).toBeLessThan(maxPart)
}

test.each([
  // Most of the work is to parse the body, in slices.
  ['of 30 MB', series(100_000, MINUTE, { note: 'x'.repeat(222) }), 1 / 8],
  ['of 4,000 days', series(4000, DAY), 1 / 4],
])('a push %s never holds the event loop', (_, data, maxPart) =>
  expectSmallTurns((user_id) => `/v2/timeseries/${user_id}/heartrate`, data, maxPart),
)

test('a night with many samples never holds the event loop', async () => {
  const night = { start_date: dateAt(0), end_date: dateAt(8 * HOUR), heart_rate: series(90_000, SECOND / 4) }
  await expectSmallTurns((user_id) => `/v2/summary/sleep/${user_id}`, [night], 1 / 4)
})
