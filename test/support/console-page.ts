import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { buildConsole } from '../../scripts/build-console.ts'
import { newContext, startBrowser } from './browser.ts'
import { signIn } from './console.ts'
import { TIMEOUT_MS } from './process.ts'
import type { Tenant } from './world.ts'

await buildConsole()
const started = await startBrowser()

export const noBrowser = !started
/** Adds the reason to the name of a skipped test. */
export const withSkipReason = (title: string) => (started ? title : `${title} (skipped: no Chromium on this machine starts)`)

export const widths = [
  ['a desktop', 1440],
  ['a phone', 390],
] as const

const viewportOf = (width: number) => ({ width, height: width > 1000 ? 900 : 844 })

export const resizePage = (page: Page, width: number) => page.setViewportSize(viewportOf(width))

/** Opens a page in a new browser context and records its requests and console errors. */
export async function openPage(base: string, width = 1440, options: BrowserContextOptions = {}) {
  const context = await newContext({
    viewport: viewportOf(width),
    colorScheme: 'light',
    baseURL: base,
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const requests: string[] = []
  const consoleErrors: string[] = []
  page.on('request', (request) => /^(data|blob|chrome(-extension)?):/.test(request.url()) || requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
  page.on('pageerror', (error) => consoleErrors.push(error.message))
  return { page, consoleErrors, externalRequests: () => requests.filter((url) => !url.startsWith(`${base}/`)) }
}

type Opened = Awaited<ReturnType<typeof openPage>>

type JourneyOptions = {
  /** `tour` checks the accessibility of most pages. A journey that ends on another page sets this. */
  checkAccessibility?: boolean
  /** Repeats the whole journey on a phone. */
  onPhone?: boolean
}

/** Runs a test on a desktop, then checks its last page on desktop and phone: width, console errors and requests to other hosts. */
export const journey = (
  title: string,
  run: (width: number) => Promise<Opened>,
  { checkAccessibility = false, onPhone = false }: JourneyOptions = {},
) =>
  test.skipIf(noBrowser).each(onPhone ? widths : widths.slice(0, 1))(withSkipReason(`on %s ${title}`), async (_, first) => {
    const { page, consoleErrors, externalRequests } = await run(first)
    for (const width of onPhone ? [first] : widths.map(([, width]) => width)) {
      await resizePage(page, width)
      // Stale content is faded, which would fail the contrast check.
      await page.locator('.is-stale').first().waitFor({ state: 'detached' })
      if (checkAccessibility) expect(await seriousIssues(page)).toEqual([])
      await expectNoOverflow(page)
    }
    expect(consoleErrors).toEqual([])
    expect(externalRequests()).toEqual([])
  })

/** The document that the page offers for download. */
export async function downloaded(page: Page) {
  const link = page.getByRole('link', { name: 'Download' })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  return { extension: download.suggestedFilename().split('.').at(-1), bytes: readFileSync(await download.path()) }
}

/** Follows a link in the menu, which is closed on a phone. */
export async function follow(page: Page, name: string) {
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('link', { name, exact: true }).click()
}

export async function signInByKey(page: Page, key: string, kind: 'Management key' | 'Team API key' = 'Management key') {
  await page.goto('/console/sign-in')
  await page.getByRole('button', { name: kind }).click()
  await page.getByLabel(/^(Management key|Team API key)$/).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('#content').waitFor()
}

/** Opens a page with a session of the tenant's management key and skips the sign-in form. */
export async function openSignedIn(base: string, tenant: Tenant, width = 1440) {
  const { cookie } = await signIn(base, { management_key: tenant.management_key })
  return openWithSession(base, cookie, tenant.team_id, width)
}

export async function openWithSession(base: string, cookie: string, team_id: string, width = 1440) {
  const origins = [{ origin: base, localStorage: [{ name: 'assay.signed-in', value: 'yes' }] }]
  const opened = await openPage(base, width, { storageState: { cookies: [], origins } })
  const [name = '', value = ''] = cookie.split('=')
  await opened.page.context().addCookies([{ name, value, url: base, httpOnly: true, sameSite: 'Strict' }])
  return { ...opened, open: (path: string) => opened.page.goto(`/console/t/${team_id}${path}`) }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** Serious and critical accessibility violations. In a second theme only the contrast can differ. */
export async function seriousIssues(page: Page, rules: 'all' | 'color-contrast' = 'all') {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], ...(rules === 'all' ? {} : { runOnly: { type: 'rule', values: [rules] } }) }
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(document, ${JSON.stringify(options)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`)
}

export const expectNoOverflow = async (page: Page) =>
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
