import { Gauge } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { metricsReader } from '../../src/http/metrics/collect.ts'
import { SECOND } from '../../src/platform/time.ts'
import { largestTurn, smallestOfThree } from '../support/event-loop.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

/** A service whose collections of metrics are counted. */
async function scraped() {
  const w = await world({ metricsMaxAgeMs: 5 * SECOND })
  w.stopTime()
  let collections = 0
  new Gauge({
    name: 'assay_test_collections',
    help: 'Collections of the metrics.',
    registers: [w.metrics.registry],
    collect() {
      this.set(++collections)
    },
  })
  const read = async () => (await fetch(`${w.base}/metrics`)).text()
  return { ...w, read, count: () => collections }
}

describe('a flood of scrapes', () => {
  test('shares one collection, and so do reads within the next seconds', async () => {
    const { read, count, advanceTime } = await scraped()
    const texts = await Promise.all(Array.from({ length: 20 }, read))
    expect([new Set(texts).size, count()]).toEqual([1, 1])
    advanceTime(4 * SECOND)
    expect([await read(), count()]).toEqual([texts[0], 1])
    advanceTime(SECOND)
    expect(await read()).toContain('assay_test_collections 2\n')
  })

  test('lets other requests run between one metric and the next', async () => {
    const { read, metrics } = await scraped()
    const order: string[] = []
    const follow = (name: string, collect: () => void) =>
      new Gauge({ name, help: 'Follows the collection.', registers: [metrics.registry], collect })
    follow('assay_test_first', () => {
      order.push('first')
      setImmediate(() => order.push('another request'))
    })
    follow('assay_test_second', () => void order.push('second'))
    await read()
    expect(order).toEqual(['first', 'another request', 'second'])
  })

  test('never holds the event loop, even with thousands of series', async () => {
    const { app, metrics, advanceTime } = await scraped()
    const wide = new Gauge({ name: 'assay_test_wide', help: 'Many series.', labelNames: ['place'], registers: [metrics.registry] })
    for (let place = 0; place < 50_000; place++) wide.set({ place }, place)
    const scrape = metricsReader(app, metrics, undefined)
    await scrape()
    const flood = () => {
      advanceTime(5 * SECOND)
      return largestTurn(() => Promise.all(Array.from({ length: 20 }, scrape)))
    }
    expect(await smallestOfThree(1 / 2, flood)).toBeLessThan(1 / 2)
  })

  test('does not keep a collection that failed', async () => {
    const { base, read, metrics } = await scraped()
    let isBroken = true
    new Gauge({
      name: 'assay_test_broken',
      help: 'Fails once.',
      registers: [metrics.registry],
      collect() {
        if (isBroken) throw new Error('broken')
      },
    })
    expect((await fetch(`${base}/metrics`)).status).toBe(500)
    isBroken = false
    expect(await read()).toContain('assay_test_broken 0')
  })
})

test('requests are counted by the class of their status, so that unusual ones create no new series', async () => {
  const { base, read } = await scraped()
  for (const path of ['/health', `/v2/user/${newUuid()}`, '/no/such/path']) await fetch(base + path)
  const statuses = [...(await read()).matchAll(/^assay_http_request_seconds_count\{.*status="([^"]*)"/gm)].map(([, status]) => status)
  expect(new Set(statuses)).toEqual(new Set(['2xx', '4xx']))
})

const METRICS_TOKEN = 'only-for-tests-metrics-token'
const guarded = await world({ env: { METRICS_TOKEN } })

describe('with METRICS_TOKEN', () => {
  test.each([undefined, METRICS_TOKEN, 'Bearer', 'Bearer ', 'Bearer another', `Bearer ${METRICS_TOKEN}x`, `Basic ${METRICS_TOKEN}`])(
    'the metrics are refused to %j',
    async (authorization) => {
      const response = await fetch(`${guarded.base}/metrics`, { headers: authorization ? { authorization } : {} })
      expect([response.status, await response.json()]).toMatchObject([401, { detail: { error_type: 'INVALID_METRICS_TOKEN' } }])
    },
  )

  test.each(['Bearer', 'bearer'])('they are served to its bearer (%s), and health needs none', async (scheme) => {
    const { status, headers } = await fetch(`${guarded.base}/metrics`, { headers: { authorization: `${scheme} ${METRICS_TOKEN}` } })
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
    expect((await fetch(`${guarded.base}/health`)).status).toBe(200)
  })
})
