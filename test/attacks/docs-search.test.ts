import { expect, test } from 'vitest'
import { world } from '../support/world.ts'

const w = await world()
const search = (query: string) => fetch(`${w.base}/docs/search?q=${encodeURIComponent(query)}`)

test('a flood of searches, the first of which build the index, does not hold up a health check', async () => {
  const finished: string[] = []
  const note = (name: string) => (response: Response) => {
    finished.push(name)
    return response.status
  }
  const searches = Array.from({ length: 200 }, (_, i) => search(`webhook ${i}`).then(note('search')))
  const health = fetch(`${w.base}/health`).then(note('health'))
  expect(new Set(await Promise.all([health, ...searches]))).toEqual(new Set([200]))
  expect(finished.indexOf('health')).toBeLessThan(finished.length - 1)
})

test('a query of 50 KB is cut off', async () => {
  const page = await (await search(`webhook ${'x'.repeat(50_000)}`)).text()
  expect(page).toContain('0 results')
  expect(page).not.toContain('x'.repeat(201))
})
