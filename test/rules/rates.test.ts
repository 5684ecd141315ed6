import { expect, test } from 'vitest'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { costOf, leaseSize, rateHeaders, rateOf } from '../../src/tenants/rates/rules.ts'

const now = '2026-03-01T12:00:00.000Z'

test.each<[string, Row, Record<string, unknown>, number]>([
  ['a request without a period', endpoints.getUser, {}, 1],
  ['a read of a day', endpoints.listSamples, { start_date: '2026-01-01', end_date: '2026-01-01' }, 1],
  ['a read of three years until now', endpoints.listSamples, { start_date: '2023-02-01' }, 4],
  ['a read of 200 years', endpoints.listSamples, { start_date: '1826-01-01', end_date: '2026-01-01' }, 10],
  ['a read of an array', endpoints.listSamplesPlain, { start_date: '2026-01-01', end_date: '2026-01-02' }, 5],
  ['a period that is not valid', endpoints.listSamples, { start_date: 'yesterday' }, 1],
  ['a period that ends before it starts', endpoints.listSamples, { start_date: '2026-01-01', end_date: '1990-01-01' }, 1],
])('%s costs as much as it reads', (_, row, query, cost) => {
  expect(costOf(row, query, now)).toBe(cost)
})

test('the burst is one second by default', () => {
  expect(rateOf({ requests_per_second: 20 })).toEqual({ perSecond: 20, burst: 20 })
  expect(rateOf({ requests_per_second: 20, burst: 50 })).toEqual({ perSecond: 20, burst: 50 })
})

test.each([
  [{ perSecond: 1, burst: 1 }, 1, 1],
  [{ perSecond: 100, burst: 100 }, 1, 50],
  [{ perSecond: 100, burst: 10 }, 1, 10],
  [{ perSecond: 4, burst: 20 }, 10, 10],
])('a process with the rate %j leases for a request of %i tokens %i', (rate, cost, size) => {
  expect(leaseSize(rate, cost)).toBe(size)
})

test('the headers name each rate, what is left of it and when it is full', () => {
  const states = [
    { name: 'key' as const, rate: { perSecond: 5, burst: 10 }, remaining: 3 },
    { name: 'team' as const, rate: { perSecond: 20, burst: 40 }, remaining: 40 },
  ]
  expect(rateHeaders(states)).toEqual({
    'ratelimit-policy': '"key";q=10;w=2, "team";q=40;w=2',
    ratelimit: '"key";r=3;t=2, "team";r=40;t=0',
  })
})
