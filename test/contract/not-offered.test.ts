import { expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { findNotOffered, notOffered } from '../../src/contract/not-offered.ts'

const paths = Object.values(endpoints).flatMap(({ path, aliases = [] }: { path: string; aliases?: readonly string[] }) => [
  path,
  ...aliases,
])

test('no operation of the API is listed as not offered', () => {
  expect(paths.filter((path) => findNotOffered(path))).toEqual([])
})

test.each([
  ['/v1/org/6f1c/team/7a2b/sandbox/continuous_query', 'queries over wearable data'],
  ['/v2/team/6f1c', 'team details by team API key'],
])('%s is listed', (path, feature) => {
  expect(findNotOffered(path)?.feature).toBe(feature)
})

test.each(['/nowhere', '/v3/order', '/v3/unmatched_result', '/v2/team/6f1c/users/search'])('%s is not listed', (path) => {
  expect(findNotOffered(path)).toBeUndefined()
})

test('every entry names an alternative in whole sentences', () => {
  for (const { instead } of notOffered) expect(instead).toMatch(/^[A-Z].*\.$/)
})
