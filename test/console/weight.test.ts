import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { named, signedIn, without } from '../support/console-page.ts'
import { place } from '../support/orders.ts'
import { world } from '../support/world.ts'

const LIMIT = 200_000
/** More than are counted one by one. `CONSOLE_ORDERS=100000` prints how fast the page is over as many, which take a minute to make. */
const ORDERS = Number(process.env['CONSOLE_ORDERS'] ?? 10_500)

type Entry = { name: string; encodedBodySize: number; startTime: number }

const entries = (page: Page, kind: string) => page.evaluate<Entry[]>(`performance.getEntriesByType('${kind}').map((one) => one.toJSON())`)

test.skipIf(without)(
  named('over many orders the first page needs less than 200 kB of JavaScript, and nothing of the contract'),
  async () => {
    const one = await world()
    const { id } = await place(one.api)
    await sql`
    insert into orders
    select (jsonb_populate_record(o, jsonb_build_object('id', made.id, 'transaction_id', made.id, 'dispatch_at', null, 'terms', '[]'::jsonb))).*
    from orders o, (select gen_random_uuid() as id from generate_series(1, ${ORDERS})) made where o.id = ${id}`.execute(one.app.db)
    await sql`analyze orders`.execute(one.app.db)
    const { page, open } = await signedIn(one.base, one)
    const begun = performance.now()
    await open('/')
    await page.getByRole('link', { name: /^Received 10,000\+/ }).waitFor()
    const shown = performance.now() - begun
    const scripts = (await entries(page, 'resource')).filter(({ name }) => name.endsWith('.js'))
    const weight = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    const first = (await entries(page, 'paint')).find(({ name }) => name === 'first-contentful-paint')
    console.log(
      `Overview over ${ORDERS} orders: first paint after ${Math.round(first?.startTime ?? 0)} ms, its numbers after ${Math.round(shown)} ms; ${scripts.length} scripts, ${(weight / 1000).toFixed(1)} kB compressed`,
    )
    expect(weight).toBeGreaterThan(0)
    expect(weight).toBeLessThan(LIMIT)
    const texts = await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()))
    expect(texts.join('')).not.toContain('ZodObject')
  },
)
