import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountConsole } from '../../src/http/pages/console.ts'
import { sendProblem } from '../../src/http/problems/send.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { fastPasswords, joinOrganization, PASSWORD } from '../support/console.ts'
import { follow, journey, noBrowser, openPage, openSignedIn, signInByKey, withSkipReason } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { temporaryFolder, world } from '../support/world.ts'

const w = await world({ env: fastPasswords })

journey(
  'a management key opens every team and the organization until sign-out',
  async (width) => {
    const { management_key } = await w.tenant()
    const opened = await openPage(w.base, width)
    const { page } = opened
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signInByKey(page, management_key)
    await follow(page, 'Audit log')
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    await follow(page, 'Teams')
    await page.getByRole('heading', { name: 'Harbor Health' }).waitFor()

    const menu = page.getByRole('button', { name: 'Menu' })
    if (await menu.isVisible()) await menu.click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto('/console/orders')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    return opened
  },
  { onPhone: true },
)

journey(
  'a team key opens its team and no organization page',
  async (width) => {
    const { team_api_key } = await w.tenant()
    const opened = await openPage(w.base, width)
    const { page } = opened
    await signInByKey(page, team_api_key, 'Team API key')
    await follow(page, 'Orders')
    await page.getByText('No orders yet').waitFor()
    const menu = page.getByRole('button', { name: 'Menu' })
    if (await menu.isVisible()) await menu.click()
    await page.getByRole('link', { name: 'Lab tests' }).waitFor()
    for (const name of ['People', 'Webhooks', 'Pipelines', 'Audit log']) expect(await page.getByRole('link', { name }).count()).toBe(0)
    return opened
  },
  { checkAccessibility: true },
)

journey('the sign-in page offers single sign-on, explains a failure, and opens the console afterward', async (width) => {
  const sso = await world({ env: { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'assay', OIDC_ROLES: 'admins=org_admin' } })
  const opened = await openPage(sso.base, width)
  const { page } = opened
  await page.goto('/console/sign-in?sso=SSO_NO_ROLE')
  await page.getByText('Your account has no access to this console.').waitFor()
  await page.getByRole('button', { name: 'Continue with single sign-on' }).click()
  await page.getByText('Single sign-on failed. Try again.').waitFor()
  await signInByKey(page, sso.management_key)
  // After the provider, the browser has a session that the page does not know yet.
  await page.evaluate(() => localStorage.clear())
  await page.goto('/console?sso=done')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  return opened
})

journey('a person signs in with password and authenticator and sees what the role allows', async (width) => {
  const tenant = await w.tenant()
  const { email, code } = await joinOrganization(w, tenant, { role: 'support' })
  // A code works once, and joining used the current one.
  w.advanceTime(MINUTE)
  const opened = await openPage(w.base, width)
  const { page, consoleErrors } = opened
  await page.goto('/console/sign-in')
  await page.getByRole('button', { name: 'Email' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Code').fill(code() === '000000' ? '111111' : '000000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The email, password or code is wrong').waitFor()
  expect(consoleErrors.splice(0)).toHaveLength(1)
  await page.getByLabel('Code').fill(code())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('link', { name: email }).waitFor()
  await page.getByRole('link', { name: 'Pipelines' }).waitFor()
  for (const name of ['People', 'API keys', 'Audit log']) expect(await page.getByRole('link', { name }).count()).toBe(0)
  return opened
})

test.skipIf(noBrowser)(withSkipReason('a wrong key shows an error on the form'), async () => {
  const { page } = await openPage(w.base, 390)
  const signInWith = async (label: string, key: string) => {
    await page.getByLabel(label, { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await page.goto('/console/sign-in')
  await signInWith('Management key', 'mk_wrong')
  await page.getByRole('alert').getByText('This management key is invalid or revoked.').waitFor()
  await signInWith('Management key', w.team_api_key)
  await page.getByRole('alert').getByText('Select “Team API key” above').waitFor()
  await page.getByRole('button', { name: 'Team API key' }).click()
  await signInWith('Team API key', w.management_key)
  await page.getByRole('alert').getByText('Select “Management key” above').waitFor()
  expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true)
})

test.skipIf(noBrowser)(withSkipReason('sign-in starts with keys in a sandbox, people in production, or the last method used'), async () => {
  const { page } = await openPage(w.base)
  const chosen = page.getByRole('group', { name: 'How to sign in' }).locator('[aria-pressed=true]')
  await page.goto('/console/sign-in')
  expect(await chosen.textContent()).toBe('Management key')
  await page.route('**/console/sign-in', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace('content="sandbox"', 'content="production"') })
  })
  await page.reload()
  expect(await chosen.textContent()).toBe('Email')
  await signInByKey(page, w.team_api_key, 'Team API key')
  await page.getByRole('button', { name: 'Sign out' }).click()
  expect(await chosen.textContent()).toBe('Team API key')
})

test.skipIf(noBrowser)(withSkipReason('sign-in continues to the requested page'), async () => {
  const { base, team_id, management_key } = { ...w, ...(await w.tenant()) }
  const { page } = await openPage(base)
  await page.goto(`/console/t/${team_id}/webhooks`)
  await page.getByText('Sign in to continue to the page you requested.').waitFor()
  await page.getByRole('button', { name: 'Management key' }).click()
  await page.getByLabel('Management key', { exact: true }).fill(management_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
  expect(page.url()).toBe(`${base}/console/t/${team_id}/webhooks`)
})

test.skipIf(noBrowser)(withSkipReason('background requests are marked and add no audit row'), async () => {
  const tenant = await w.tenant()
  const { page, open } = await openSignedIn(w.base, tenant)
  const overview = () => page.waitForResponse((response) => response.url().endsWith('/console/overview'))
  const [asked] = await Promise.all([overview(), open('/')])
  expect(asked.request().headers()['x-assay-background']).toBeUndefined()
  await page.getByText('Live', { exact: true }).waitFor()
  const rows = () =>
    query(w.url, `select id from ${auditRows} where team_id = $1 and action = 'getOverview' and via = 'console'`, [tenant.team_id])
  const before = (await rows()).length
  const [background] = await Promise.all([overview(), placeOrder(tenant.api).then(() => w.runJobs())])
  expect([background.status(), background.request().headers()['x-assay-background']]).toEqual([200, '1'])
  expect(await rows()).toHaveLength(before)
})

test('the page loads nothing from other hosts and runs nothing inline, and hashed files are cached permanently', async () => {
  const { base } = w
  const index = await fetch(`${base}/console/t/x/orders`)
  const policy = index.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self';")
  expect(policy).toContain("style-src 'self';")
  expect(policy).not.toContain('unsafe')
  expect(index.headers.get('cache-control')).toBe('no-cache')
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await index.text())?.[1] as string
  const asset = await fetch(base + script)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(asset.headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
  expect((await fetch(`${base}/console/assets/gone-12345678.js`)).status).toBe(404)
  expect((await fetch(base, { redirect: 'manual' })).headers.get('location')).toBe('/console')
})

test('the page names its environment', async () => {
  const server = Fastify()
  mountConsole(server, { ENVIRONMENT: 'production', OIDC_ISSUER: undefined })
  expect((await server.inject('/console')).body).toContain('<meta name="environment" content="production"')
})

test('a service without a built console explains how to build it', async () => {
  const server = Fastify()
  server.setErrorHandler((error, request, reply) => sendProblem(w.app, error, request, reply))
  mountConsole(server, { ENVIRONMENT: 'sandbox', OIDC_ISSUER: undefined }, temporaryFolder())
  const response = await server.inject('/console/orders')
  expect(response.statusCode).toBe(503)
  expect(response.json()).toMatchObject({
    detail: { error_type: 'CONSOLE_NOT_BUILT', error_message: expect.stringContaining('npm start') },
  })
})
