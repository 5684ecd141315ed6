import { expect, test } from 'vitest'
import { named, signedIn, without } from '../support/console-page.ts'
import { world } from '../support/world.ts'

const LIMIT = 200_000

type Entry = { name: string; encodedBodySize: number; startTime: number }

test.skipIf(without)(named('the first page needs less than 200 kB of JavaScript, and none of the contract'), async () => {
  const one = await world()
  const { page, open } = await signedIn(one.base, one)
  await open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const loaded = await page.evaluate<Entry[]>("performance.getEntriesByType('resource').map((one) => one.toJSON())")
  const scripts = loaded.filter(({ name }) => name.endsWith('.js'))
  const weight = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
  const paints = await page.evaluate<Entry[]>("performance.getEntriesByType('paint').map((one) => one.toJSON())")
  const first = paints.find(({ name }) => name === 'first-contentful-paint')
  console.log(
    `First page: ${scripts.length} scripts, ${Math.round(weight / 1000)} kB compressed; first paint after ${Math.round(first?.startTime ?? 0)} ms`,
  )
  expect(weight).toBeGreaterThan(0)
  expect(weight).toBeLessThan(LIMIT)
  const texts = await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()))
  expect(texts.join('')).not.toContain('ZodObject')
})
