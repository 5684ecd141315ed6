import { expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { notOffered, notOfferedAt } from '../../src/contract/not-offered.ts'

const paths = Object.values(endpoints).flatMap(({ path, aliases = [] }: { path: string; aliases?: readonly string[] }) => [
  path,
  ...aliases,
])

test('what is said not to be offered is not offered', () => {
  expect(paths.filter((path) => notOfferedAt(path))).toEqual([])
})

test.each([
  ['/v3/order/psc/appointment/availability', 'appointments'],
  ['/v3/order/6f1c/phlebotomy/appointment', 'appointments'],
  ['/v3/order/6f1c/phlebotomy/appointment/book', 'appointments'],
  ['/v3/unmatched_result', 'results that fit no order'],
  ['/v3/unmatched_result/6f1c/accept', 'results that fit no order'],
  ['/v1/org/6f1c/team/7a2b/sandbox/continuous_query', 'queries over wearable data'],
  ['/v2/team/6f1c', 'the team by its own key'],
])('%s is known by what it was for', (path, what) => {
  expect(notOfferedAt(path)?.what).toBe(what)
})

test.each(['/nowhere', '/v3/order', '/v3/unmatched_resulting', '/v2/team/6f1c/users/search'])('%s is not known', (path) => {
  expect(notOfferedAt(path)).toBeUndefined()
})

test('each says what to do instead, in whole sentences', () => {
  for (const { instead } of notOffered) expect(instead).toMatch(/^[A-Z].*\.$/)
})
