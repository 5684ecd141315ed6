import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { largestTurn } from '../support/event-loop.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { aSample } from '../support/wearables.ts'
import { world } from '../support/world.ts'

const w = await world()

const MAX_PART = 1 / 8

const series = (count: number, intervalMs: number, change: object = {}) =>
  Array.from({ length: count }, (_, i) => aSample(new Date(Date.parse('2014-01-01') + i * intervalMs).toISOString(), 50 + (i % 90), change))

test.each([
  ['of 30 MB', series(100_000, MINUTE, { note: 'x'.repeat(222) })],
  ['of 4,000 days', series(4000, DAY)],
])('a push %s never holds the event loop', async (_, data) => {
  const headers = { 'x-service-api-key': w.team_api_key, 'content-encoding': 'gzip' }
  const body = gzipSync(JSON.stringify({ provider: 'freestyle_libre', data }))
  const pushTo = (user_id: string) => sendRaw(`${w.base}/v2/timeseries/${user_id}/heartrate`, 'POST', { headers, body })
  const user_id = await aUser(w.api)
  const largest = await largestTurn(async () => {
    expect((await pushTo(user_id)).body).toMatchObject({ created: data.length })
  })
  expect(largest).toBeLessThan(MAX_PART)
})
