import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newContext, startBrowser } from '../support/browser.ts'
import { TIMEOUT_MS } from '../support/process.ts'
import { world } from '../support/world.ts'

const browser = await startBrowser()
const where = browser ? '/docs/reference in Chromium' : '/docs/reference in Chromium (skipped: none on this machine starts)'

test.skipIf(!browser).each([1440, 390])(
  `${where}, %i pixels wide, shows the reference and loads nothing from other hosts`,
  async (width) => {
    const { base } = await world()
    const { page, asked, complaints } = await watched(width)
    await page.goto(`${base}/docs/reference`)
    // A long reference renders operations as they scroll into view.
    await page.getByRole('heading', { name: /^Users/ }).scrollIntoViewIfNeeded()
    await page.getByRole('heading', { name: 'Create a user' }).waitFor()
    expect(await readPlaceholders(page)).toEqual(['your key'])
    await scrollThrough(page)

    expect(await page.title()).toBe('API reference · Assay documentation')
    expect(asked.filter((url) => !url.startsWith(`${base}/`))).toEqual([])
    expect(complaints).toEqual([])
    expect(await page.evaluate('scrollTo(100, 0), scrollX')).toBe(0)
    expect(await page.getByText('Powered by').filter({ visible: true }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'documentation' }).getAttribute('href')).toBe('/docs')
  },
  120_000,
)

test.skipIf(!browser)(
  `${where} sends a test request to this service only`,
  async () => {
    const { base } = await world()
    const { page, asked } = await watched(1440)
    await page.goto(`${base}/docs/reference`)
    await page.getByRole('button', { name: /Test Request.*post \/v2\/user\)/ }).click()
    await page.getByRole('button', { name: /^Send/ }).first().click()
    await page.getByText('MISSING_API_KEY').first().waitFor()
    expect(asked).toContain(`${base}/v2/user`)
    expect(asked.filter((url) => !url.startsWith(`${base}/`))).toEqual([])
  },
  120_000,
)

/** Opens a page that records its requests and console errors. */
async function watched(width: number) {
  const page = await (await newContext({ viewport: { width, height: 900 } })).newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const asked: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => /^(data|blob):/.test(request.url()) || asked.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, asked, complaints }
}

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
    await page.waitForTimeout(50)
  }
}
