import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { pages } from '../../src/http/docs/pages.ts'
import { interceptRequests } from '../support/console-failures.ts'
import { expectNoOverflow, noBrowser, openPage, resizePage, seriousIssues, widths, withSkipReason } from '../support/console-page.ts'
import { screenshot } from '../support/console-tour.ts'
import { world } from '../support/world.ts'

let base: string
beforeAll(async () => {
  base = (await world()).base
})

const stops = [
  { name: 'index', path: '/docs', heading: 'Assay documentation' },
  { name: 'orders', path: '/docs/orders', heading: 'Lab orders' },
  { name: 'lifecycle', path: '/docs/lifecycle', heading: 'Order lifecycle' },
]
const kept = ['index-1440', 'lifecycle-1440', 'orders-1440-dark', 'index-390', 'orders-390', 'lifecycle-390-dark']

const looks = (['light', 'dark'] as const).flatMap((colorScheme) => widths.map(([, width]) => ({ colorScheme, width })))

test.skipIf(noBrowser).each(stops)(
  withSkipReason('$path is accessible on a desktop and a phone, light and dark, and loads nothing from other hosts'),
  async ({ name, path, heading }) => {
    const { page, consoleErrors, externalRequests } = await openPage(base)
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    for (const { colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme })
      await resizePage(page, width)
      await expectNoOverflow(page)
      const shot = `${name}-${width}${colorScheme === 'dark' ? '-dark' : ''}`
      expect(await seriousIssues(page, colorScheme === 'dark' ? 'color-contrast' : 'all'), shot).toEqual([])
      if (kept.includes(shot)) await screenshot(page, `docs-${shot}`)
    }
    expect(consoleErrors).toEqual([])
    expect(externalRequests()).toEqual([])
  },
)

test.skipIf(noBrowser)(withSkipReason('/docs: every page fits on a phone'), async () => {
  const { page, consoleErrors, externalRequests } = await openPage(base, 390)
  for (const { slug } of pages.filter((one) => one.slug !== 'reference')) {
    await page.goto(`/docs/${slug}`)
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await expectNoOverflow(page)
    expect(await brokenWords(page), slug).toEqual([])
  }
  expect(consoleErrors).toEqual([])
  expect(externalRequests()).toEqual([])
})

/** Code in tables that wraps anywhere but at its break opportunities. */
const brokenWords = (page: Page) =>
  page.locator('article td code, article th code').evaluateAll((words) =>
    words
      .filter((word) => /^[\w.*]+$/.test(word.textContent ?? ''))
      .filter((word) => word.getClientRects().length > 1 + word.querySelectorAll('wbr').length)
      .map((word) => word.textContent),
  )

test.skipIf(noBrowser)(withSkipReason('/docs: the search retries loading its index on the next key press'), async () => {
  const { page } = await openPage(base)
  await page.goto('/docs')
  const recover = await interceptRequests(page, '**/docs/search.json', (route) => route.abort())
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/docs/search.json'))
  await page.getByLabel('Search the documentation').pressSequentially('I')
  await failed
  recover()
  await page.keyboard.type('DEMPOTENCY_KEY_REUSED')
  await firstFound(page, /^IDEMPOTENCY_KEY_REUSED Errors/)
})

test.skipIf(noBrowser)(withSkipReason('/docs: the search finds an error code and an event type by keyboard'), async () => {
  const { page, consoleErrors } = await openPage(base)
  await page.goto('/docs')
  await page.keyboard.press('/')
  await page.keyboard.type('IDEMPOTENCY_KEY_REUSED')
  await firstFound(page, /^IDEMPOTENCY_KEY_REUSED Errors/)
  await screenshot(page, 'docs-found-1440')
  expect(await seriousIssues(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/errors#row-IDEMPOTENCY_KEY_REUSED')
  expect(await page.locator('tr:target').textContent()).toContain('409')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('labtest.result.critical')
  await firstFound(page, /^labtest\.result\.critical Events/)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/events#*')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('xyzzyplugh')
  await page.getByText('No results.').waitFor()
  await page.keyboard.press('Escape')
  expect(await page.locator('#found').isVisible()).toBe(false)
  expect(consoleErrors).toEqual([])
})

const firstFound = (page: Page, name: RegExp) => page.getByRole('option', { name, selected: true }).waitFor()

test.skipIf(noBrowser)(withSkipReason('/docs: copies a code sample and links to a section'), async () => {
  const { page } = await openPage(base)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/docs/events')
  // The word disappears soon, so the wait begins before the click.
  await Promise.all([page.getByText('Copied').first().waitFor(), page.getByRole('button', { name: 'Copy this code' }).first().click()])
  const sample = await page.locator('.code:not(.output) code').first().textContent()
  expect(sample).toContain('api "/events')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sample)
  await page.getByRole('link', { name: 'Link to Event types', exact: true }).click()
  await page.waitForURL(`${base}/docs/events#event-types`)
  await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Examples' }).click()
  await page.waitForURL(`${base}/docs/events#examples`)
})

test.skipIf(noBrowser)(withSkipReason('/docs: the current page is visible in the page list'), async () => {
  const { page } = await openPage(base)
  await page.goto('/docs/shared-responsibility')
  const link = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Shared responsibility' })
  const { y = 900 } = (await link.boundingBox()) ?? {}
  expect(y).toBeLessThan(880)
  expect(await page.evaluate('scrollY')).toBe(0)
})

test.skipIf(noBrowser)(withSkipReason('/docs: uses the theme selected in the console'), async () => {
  const { page } = await openPage(base)
  await page.goto('/docs')
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await ground()).toBe('rgb(248, 248, 246)')
  await page.evaluate("localStorage.setItem('assay.theme', 'dark')")
  await page.goto('/docs/lifecycle')
  expect(await ground()).toBe('rgb(16, 18, 20)')
  expect(await page.evaluate("getComputedStyle(document.querySelector('.lc-band')).fill")).toBe('rgb(22, 25, 28)')
  await page.getByRole('button', { name: 'Theme: dark. Change' }).click()
  expect(await page.evaluate("localStorage.getItem('assay.theme')")).toBe('auto')
  expect(await ground()).toBe('rgb(248, 248, 246)')
})

test.skipIf(noBrowser)(withSkipReason('/docs on a phone: works without JavaScript'), async () => {
  const { page } = await openPage(base, 390, { javaScriptEnabled: false })
  await page.goto('/docs')
  await page.getByText('Menu', { exact: true }).click()
  await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Order lifecycle' }).click()
  await page.getByRole('img', { name: /^Steps and transitions of testkit orders/ }).waitFor()
  await page.getByLabel('Search the documentation').fill('ORDER_NOT_CANCELLABLE')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'ORDER_NOT_CANCELLABLE' }).click()
  await page.waitForURL('**/docs/errors#row-ORDER_NOT_CANCELLABLE')
})

test.skipIf(noBrowser)(withSkipReason('/docs: an unknown page offers the search and the page list'), async () => {
  const { page } = await openPage(base)
  const response = await page.goto('/docs/ordres')
  expect(response?.status()).toBe(404)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Lab orders' }).click()
  await page.getByRole('heading', { name: 'Lab orders', level: 1 }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('/docs prints only the text'), async () => {
  const { page } = await openPage(base, 1440, { colorScheme: 'dark' })
  await page.goto('/docs/events')
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  for (const gone of ['.side', '.top', '.contents', '.neighbors']) expect(await page.locator(gone).first().isVisible()).toBe(false)
  expect(await page.getByRole('heading', { name: 'Events', level: 1 }).isVisible()).toBe(true)
})
