import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type Authorization, openAuthorizationServer } from '../support/authorization-server.ts'
import { aLink } from '../support/connections.ts'
import { expectNoOverflow, noBrowser, openPage, resizePage, withSkipReason } from '../support/console-page.ts'
import { aReceiver } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

let source: Authorization
let w: Awaited<ReturnType<typeof world>>
let back: string
beforeAll(async () => {
  source = await openAuthorizationServer()
  const { id: client_id, secret: client_secret } = source.client
  w = await world({ env: { OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id, client_secret }) }) } })
  // The source redirects the browser to this test's server.
  w.app.config.PUBLIC_URL = w.base
  back = (await aReceiver()).url
})

const looks = [
  { width: 390, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
] as const

/** Opens a page and records its console errors, except of responses that refuse a request. */
async function openLinkPage({ width, colorScheme }: (typeof looks)[number] = looks[1], javaScriptEnabled = true) {
  const { page, consoleErrors, externalRequests } = await openPage(w.base, width, { colorScheme, javaScriptEnabled })
  return { page, externalRequests, unexpectedErrors: () => consoleErrors.filter((text) => !/status of 4\d\d/.test(text)) }
}

const expectContrast = async (page: Page) => expect(await page.evaluate(`(${leastContrast})()`)).toBeGreaterThanOrEqual(4.5)

test.skipIf(noBrowser).each(looks)(
  withSkipReason('/link, $width pixels wide and $colorScheme: a user finds a source in readable colors, authorizes it and returns'),
  async (look) => {
    const { link_web_url, user_id } = await aLink(w.base, w.api, { redirect_url: back })
    const { page, externalRequests, unexpectedErrors } = await openLinkPage(look)
    await page.goto(link_web_url)
    await page.getByRole('heading', { name: 'Connect a source', level: 1 }).waitFor()
    await expectNoOverflow(page)
    await expectContrast(page)
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(look.colorScheme === 'dark' ? 'rgb(16, 20, 24)' : 'rgb(244, 246, 248)')

    await page.getByLabel('Search').fill('fitb')
    await page
      .getByRole('status')
      .filter({ hasText: /^1 source$/ })
      .waitFor()
    expect(await page.getByRole('listitem').count()).toBe(1)
    await page.getByRole('link', { name: 'Fitbit' }).click()
    await page.getByRole('link', { name: 'Continue to Fitbit' }).click()
    await page.waitForURL(`${back}?state=success`)
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'fitbit', status: 'connected' }])
    const origins = new Set(externalRequests().map((url) => new URL(url).origin))
    expect([...origins].sort()).toEqual([source.origin, new URL(back).origin].sort())
    expect(unexpectedErrors()).toEqual([])
  },
)

test.skipIf(noBrowser)(withSkipReason('/link: a source without credentials offers demo data on a phone and a desktop'), async () => {
  const { link_web_url, user_id } = await aLink(w.base, w.api)
  const { page, externalRequests, unexpectedErrors } = await openLinkPage(looks[0])
  const expectReadable = async () => {
    for (const { width, colorScheme } of looks) {
      await page.emulateMedia({ colorScheme })
      await resizePage(page, width)
      await expectNoOverflow(page)
      await expectContrast(page)
    }
  }
  await page.goto(link_web_url)
  await page.getByLabel('Search').fill('oura')
  const choice = page.getByRole('link', { name: 'Oura' })
  expect(await choice.textContent()).toContain('Demo data')
  await choice.click()
  await page.getByText('a month of generated data').waitFor()
  await expectReadable()
  await page.getByRole('button', { name: 'Connect with demo data' }).click()
  await page.getByRole('heading', { name: 'You are connected' }).waitFor()
  expect(await page.getByRole('status').textContent()).toContain('Oura is connected with demo data.')
  await expectReadable()
  expect((await w.api.listSleep({ params: { user_id }, query: { start_date: '2000-01-01' } })).sleep.length).toBeGreaterThan(30)
  expect(externalRequests()).toEqual([])
  expect(unexpectedErrors()).toEqual([])
})

test.skipIf(noBrowser)(withSkipReason('/link: announces a wrong password, asks for a code and redirects'), async () => {
  const { link_web_url } = await aLink(w.base, w.api, { redirect_url: back, provider: 'peloton' })
  const { page, unexpectedErrors } = await openLinkPage(looks[0])
  await page.goto(link_web_url)
  const signIn = async (password: string) => {
    await page.getByLabel('Username or email address').fill('rider')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Connect' }).click()
  }
  await signIn('wrong')
  expect(await page.getByRole('alert').textContent()).toContain('did not accept your sign-in')
  await expectNoOverflow(page)
  await signIn('mfa')
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Connect' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('The code is incorrect')
  await page.getByLabel('Code').fill('123456')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.waitForURL(`${back}?state=success`)
  expect(unexpectedErrors()).toEqual([])
})

test.skipIf(noBrowser)(withSkipReason('/link: a user who denies access sees an error and can try again'), async () => {
  const { link_web_url } = await aLink(w.base, w.api, { provider: 'fitbit' })
  const { page } = await openLinkPage()
  await page.goto(link_web_url)
  source.behavior.deny = true
  await page.getByRole('link', { name: 'Continue to Fitbit' }).click()
  await page.getByRole('heading', { name: 'Connection failed' }).waitFor()
  source.behavior.deny = false
  expect(await page.getByRole('alert').textContent()).toContain('canceled')
  await page.getByRole('link', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Continue to Fitbit' }).click()
  await page.getByRole('heading', { name: 'You are connected' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('/link: works by keyboard'), async () => {
  const { link_web_url, user_id } = await aLink(w.base, w.api)
  const { page } = await openLinkPage()
  await page.goto(link_web_url)
  await page.keyboard.press('Tab')
  await page.keyboard.type('libre')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle + ' ' + document.activeElement.textContent")).toMatch(
    /^solid Freestyle/,
  )
  await page.keyboard.press('Enter')
  await page.getByLabel('Email address').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.type('reader@example.org')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'You are connected' }).waitFor()
  expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'freestyle_libre' }])
})

test.skipIf(noBrowser)(withSkipReason('/link: works without JavaScript'), async () => {
  const { link_web_url } = await aLink(w.base, w.api, { redirect_url: back })
  const { page } = await openLinkPage(looks[0], false)
  await page.goto(link_web_url)
  await page.getByLabel('Search').fill('zwift')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('1 source', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Zwift' }).click()
  await page.getByLabel('Username or email address').fill('rider')
  await page.getByLabel('Password').fill('right')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.waitForURL(`${back}?state=success`)
})

/** Returns the lowest contrast of any text on the page. Runs in the browser. */
const leastContrast = `() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number)
  const light = (color) => {
    const [r, g, b] = parts(color).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if ((parts(color)[3] ?? 1) > 0) return color
    }
    return 'rgb(255,255,255)'
  }
  const texts = [...document.querySelectorAll('main *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  return Math.min(...texts.map((one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))]
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  }))
}`
