import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type Authorization, openAuthorizationServer } from '../support/authorization-server.ts'
import { newContext, startBrowser } from '../support/browser.ts'
import { aLink } from '../support/connections.ts'
import { TIMEOUT_MS } from '../support/process.ts'
import { aReceiver } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const browser = await startBrowser()
const where = browser ? '/link in Chromium' : '/link in Chromium (skipped: none on this machine starts)'

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
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1440, height: 900, colorScheme: 'light' },
] as const

/** Opens a page that records its request origins and console errors. */
async function visitor({ width, height, colorScheme }: (typeof looks)[number] = looks[1], javaScriptEnabled = true) {
  const page = await (await newContext({ viewport: { width, height }, colorScheme, javaScriptEnabled })).newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const asked = new Set<string>()
  const complaints: string[] = []
  page.on('request', (request) => /^(data|blob):/.test(request.url()) || asked.add(new URL(request.url()).origin))
  page.on('console', (message) => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, asked, complaints }
}

const isWideAsTheWindow = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')

test.skipIf(!browser).each(looks)(
  `${where}, $width pixels wide and $colorScheme: a user finds a source, authorizes it and returns`,
  async (look) => {
    const { link_web_url, user_id } = await aLink(w.base, w.api, { redirect_url: back })
    const { page, asked, complaints } = await visitor(look)
    await page.goto(link_web_url)
    await page.getByRole('heading', { name: 'Connect a source', level: 1 }).waitFor()
    expect(await isWideAsTheWindow(page)).toBe(true)
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(look.colorScheme === 'dark' ? 'rgb(16, 20, 24)' : 'rgb(244, 246, 248)')

    await page.getByLabel('Search').fill('fitb')
    expect(await page.getByRole('listitem').count()).toBe(1)
    expect(await page.getByRole('status').textContent()).toBe('1 source')
    await page.getByRole('link', { name: 'Fitbit' }).click()
    await page.getByRole('link', { name: 'Continue to Fitbit' }).click()
    await page.waitForURL(`${back}?state=success`)
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'fitbit', status: 'connected' }])
    expect([...asked].sort()).toEqual([w.base, source.origin, new URL(back).origin].sort())
    expect(complaints).toEqual([])
  },
)

test.skipIf(!browser).each(looks)(`${where}, $width pixels wide: a source without credentials offers demo data`, async (look) => {
  const { link_web_url, user_id } = await aLink(w.base, w.api)
  const { page, asked, complaints } = await visitor(look)
  await page.goto(link_web_url)
  await page.getByLabel('Search').fill('oura')
  const choice = page.getByRole('link', { name: 'Oura' })
  expect(await choice.textContent()).toContain('Demo data')
  await choice.click()
  await page.getByText('a month of generated data').waitFor()
  expect(await isWideAsTheWindow(page)).toBe(true)
  expect(await page.evaluate(`(${leastContrast})()`)).toBeGreaterThanOrEqual(4.5)
  await page.getByRole('button', { name: 'Connect with demo data' }).click()
  await page.getByRole('heading', { name: 'You are connected' }).waitFor()
  expect(await page.getByRole('status').textContent()).toContain('Oura is connected with demo data.')
  expect(await isWideAsTheWindow(page)).toBe(true)
  expect((await w.api.listSleep({ params: { user_id }, query: { start_date: '2000-01-01' } })).sleep.length).toBeGreaterThan(30)
  expect([...asked]).toEqual([w.base])
  expect(complaints).toEqual([])
})

test.skipIf(!browser)(`${where}: announces a wrong password, asks for a code and redirects`, async () => {
  const { link_web_url } = await aLink(w.base, w.api, { redirect_url: back, provider: 'peloton' })
  const { page, complaints } = await visitor(looks[0])
  await page.goto(link_web_url)
  const signIn = async (password: string) => {
    await page.getByLabel('Username or email address').fill('rider')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Connect' }).click()
  }
  await signIn('wrong')
  expect(await page.getByRole('alert').textContent()).toContain('did not accept your sign-in')
  expect(await isWideAsTheWindow(page)).toBe(true)
  await signIn('mfa')
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Connect' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('The code is incorrect')
  await page.getByLabel('Code').fill('123456')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.waitForURL(`${back}?state=success`)
  expect(complaints).toEqual([])
})

test.skipIf(!browser)(`${where}: a user who denies access sees an error and can try again`, async () => {
  const { link_web_url } = await aLink(w.base, w.api, { provider: 'fitbit' })
  const { page } = await visitor()
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

test.skipIf(!browser)(`${where}: works by keyboard`, async () => {
  const { link_web_url, user_id } = await aLink(w.base, w.api)
  const { page } = await visitor()
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

test.skipIf(!browser)(`${where}: works without JavaScript`, async () => {
  const { link_web_url } = await aLink(w.base, w.api, { redirect_url: back })
  const { page } = await visitor(looks[0], false)
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

test.skipIf(!browser)(`${where}: every text has enough contrast`, async () => {
  for (const look of looks) {
    const { link_web_url } = await aLink(w.base, w.api)
    const { page } = await visitor(look)
    await page.goto(link_web_url)
    expect(await page.evaluate(`(${leastContrast})()`)).toBeGreaterThanOrEqual(4.5)
  }
})

/** Returns the lowest contrast of any text on the page. Runs in the browser. */
const leastContrast = `() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor
      if ((parts(colour)[3] ?? 1) > 0) return colour
    }
    return 'rgb(255,255,255)'
  }
  const texts = [...document.querySelectorAll('main *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  return Math.min(...texts.map((one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))]
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  }))
}`
