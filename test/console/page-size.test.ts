import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { fillOrdersTo } from '../support/order-copies.ts'
import { placeOrder } from '../support/orders.ts'
import { asTest } from '../support/query.ts'
import { fileDatabase, world } from '../support/world.ts'

const LIMIT = 200_000
const ORDERS = 20_000

type Entry = { name: string; encodedBodySize: number; startTime: number }

const entries = (page: Page, kind: string) => page.evaluate<Entry[]>(`performance.getEntriesByType('${kind}').map((one) => one.toJSON())`)

test.skipIf(noBrowser)(
  withSkipReason('with 20,000 orders the first page loads less than 200 kB of JavaScript and no contract schemas'),
  async () => {
    const w = await world()
    await placeOrder(w.api)
    await fillOrdersTo(asTest(await fileDatabase()), ORDERS)
    const { page, open } = await openSignedIn(w.base, w)
    const startedAt = performance.now()
    await open('/')
    await page.getByRole('link', { name: /^Completed 10,000\+/ }).waitFor()
    const shownMs = performance.now() - startedAt
    const scripts = (await entries(page, 'resource')).filter(({ name }) => name.endsWith('.js'))
    const weight = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    const first = (await entries(page, 'paint')).find(({ name }) => name === 'first-contentful-paint')
    console.log(
      `Overview over ${ORDERS.toLocaleString('en')} orders: first paint after ${Math.round(first?.startTime ?? 0)} ms, its numbers after ${Math.round(shownMs)} ms; ${scripts.length} scripts, ${(weight / 1000).toFixed(1)} kB compressed`,
    )
    expect(weight).toBeGreaterThan(0)
    expect(weight).toBeLessThan(LIMIT)
    const texts = await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()))
    expect(texts.join('')).not.toContain('ZodObject')
    // The bundle must not reveal paths of the build machine.
    expect(texts.join('')).not.toContain('console/src/')
  },
)
