import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { noBrowser, openPage, resizePage, withSkipReason } from '../support/console-page.ts'
import { world } from '../support/world.ts'

test.skipIf(noBrowser)(
  withSkipReason('/docs/reference fits a desktop and a phone, sends a test request to this service, and loads nothing from other hosts'),
  async () => {
    const { base } = await world()
    const { page, consoleErrors, externalRequests } = await openPage(base)
    await page.goto('/docs/reference')
    // A long reference renders operations as they scroll into view.
    await page.getByRole('heading', { name: /^Users/ }).scrollIntoViewIfNeeded()
    await page.getByRole('heading', { name: 'Create a user' }).waitFor()
    expect(await page.title()).toBe('API reference · Assay documentation')
    await page.locator('.scalar-password-input').first().waitFor({ state: 'attached' })
    expect(await readPlaceholders(page)).toEqual(['your key'])
    expect(await page.getByRole('link', { name: 'documentation' }).getAttribute('href')).toBe('/docs')
    await scrollThrough(page)
    expect(await page.getByText('Powered by').filter({ visible: true }).count()).toBe(0)
    for (const width of [390, 1440]) {
      await resizePage(page, width)
      expect(await page.evaluate('scrollTo(100, 0), scrollX')).toBe(0)
    }
    expect(consoleErrors).toEqual([])

    const sent = page.waitForRequest(`${base}/v2/user`)
    await page.getByRole('button', { name: /Test Request.*post \/v2\/user\)/ }).click()
    await page.getByRole('button', { name: /^Send/ }).first().click()
    await sent
    await page.getByText('MISSING_API_KEY').first().waitFor()
    expect(externalRequests()).toEqual([])
  },
)

const readPlaceholders = (page: Page) =>
  page
    .locator('.scalar-password-input')
    .evaluateAll((fields) => [
      ...new Set(fields.map((field) => field.getAttribute('data-placeholder') ?? field.getAttribute('placeholder'))),
    ])

/** Scrolling triggers everything that loads lazily. */
async function scrollThrough(page: Page) {
  for (let i = 0; i < 8; i++) {
    await page.mouse.wheel(0, 3_000)
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))')
  }
}
