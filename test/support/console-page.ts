import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
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

type Origins = { origin: string; localStorage: { name: string; value: string }[] }[]

/** Opens a page in a new browser context and records its requests and console errors. */
export async function openPage(base: string, width = 1440, colorScheme: 'light' | 'dark' = 'light', origins: Origins = []) {
  const context = await newContext({
    storageState: { cookies: [], origins },
    viewport: { width, height: width > 1000 ? 900 : 844 },
    colorScheme,
    baseURL: base,
    reducedMotion: 'reduce',
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

/** Runs a test on desktop and phone, then checks accessibility, page width, console errors and requests to other hosts. */
export const journey = (title: string, run: (width: number) => Promise<Opened>) =>
  test.skipIf(noBrowser).each(widths)(withSkipReason(`on %s ${title}`), async (_, width) => {
    const { page, consoleErrors, externalRequests } = await run(width)
    // Stale content is faded, which would fail the contrast check.
    await page.locator('.is-stale').first().waitFor({ state: 'detached' })
    expect(await seriousIssues(page)).toEqual([])
    await expectNoOverflow(page)
    expect(consoleErrors).toEqual([])
    expect(externalRequests()).toEqual([])
  })

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
export async function openSignedIn(base: string, tenant: Tenant, width = 1440, colorScheme: 'light' | 'dark' = 'light') {
  const { cookie } = await signIn(base, { management_key: tenant.management_key })
  return openWithSession(base, cookie, tenant.team_id, width, colorScheme)
}

export async function openWithSession(
  base: string,
  cookie: string,
  team_id: string,
  width = 1440,
  colorScheme: 'light' | 'dark' = 'light',
) {
  const opened = await openPage(base, width, colorScheme, [{ origin: base, localStorage: [{ name: 'assay.signed-in', value: 'yes' }] }])
  const [name = '', value = ''] = cookie.split('=')
  await opened.page.context().addCookies([{ name, value, url: base, httpOnly: true, sameSite: 'Strict' }])
  return { ...opened, open: (path: string) => opened.page.goto(`/console/t/${team_id}${path}`) }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** Serious and critical accessibility violations. */
export async function seriousIssues(page: Page) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run(document, { resultTypes: ['violations'] })")
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`)
}

export const expectNoOverflow = async (page: Page) =>
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
