import { expect, test } from 'vitest'
import { allItems, followPages } from '../../src/wearables/providers/reading/pages.ts'

test('follows pages to the last one', async () => {
  const pages = followPages(
    async (next) => Number(next ?? 0),
    (page) => (page < 3 ? String(page + 1) : ''),
  )
  expect(await allItems(wrapped(pages))).toEqual([0, 1, 2, 3])
})

test('gives up on a list that never ends, even if each page has another name', async () => {
  let requests = 0
  const pages = followPages(async () => requests++, String)
  await expect(allItems(wrapped(pages))).rejects.toMatchObject({ fault: 'malformed' })
  expect(requests).toBeLessThan(1000)
})

async function* wrapped(pages: AsyncIterable<number>) {
  for await (const page of pages) yield [page]
}
