import { expect, test } from 'vitest'
import { world } from '../support/world.ts'

const w = await world()
const search = (query: string) => fetch(`${w.base}/docs/search?q=${encodeURIComponent(query)}`)

test('a flood of searches, the first of which build the index, does not hold up a health check', async () => {
  let finished = 0
  const searches = Array.from({ length: 50 }, (_, i) =>
    search(`webhook ${i}`).then((response) => {
      finished++
      return response.status
    }),
  )
  const health = await fetch(`${w.base}/health`)
  expect(health.status).toBe(200)
  expect(finished).toBeLessThan(50)
  expect(new Set(await Promise.all(searches))).toEqual(new Set([200]))
})

test('a query of 50 KB is cut off', async () => {
  const page = await (await search(`webhook ${'x'.repeat(50_000)}`)).text()
  expect(page).toContain('0 results')
  expect(page).not.toContain('x'.repeat(201))
})
