import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountConsole } from '../../src/http/pages/console.ts'
import { sendProblem } from '../../src/http/problems/refuse.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { joined, PASSWORD, quick } from '../support/console.ts'
import { follow, journey, named, openPage, signedIn, signInByKey, without } from '../support/console-page.ts'
import { place } from '../support/orders.ts'
import { temporaryFolder, world } from '../support/world.ts'

const one = await world({ env: quick })

journey('a management key opens every team and the organisation; signing out closes all of it', async (width) => {
  const { management_key } = await one.tenant()
  const opened = await openPage(one.base, width)
  const { page } = opened
  await page.goto('/')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signInByKey(page, management_key)
  await follow(page, 'Audit log')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  await follow(page, 'Teams')
  await page.getByRole('heading', { name: 'Harbour Health' }).waitFor()

  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto('/console/orders')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  return opened
})

journey('a team key opens its team and no page of the organisation', async (width) => {
  const { team_api_key } = await one.tenant()
  const opened = await openPage(one.base, width)
  const { page } = opened
  await signInByKey(page, team_api_key, 'Team key')
  await follow(page, 'Orders')
  await page.getByText('No orders yet').waitFor()
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('link', { name: 'Lab tests' }).waitFor()
  for (const name of ['People', 'Webhooks', 'Pipelines', 'Audit log']) expect(await page.getByRole('link', { name }).count()).toBe(0)
  return opened
})

journey('a person signs in with password and authenticator, and may do what the role allows', async (width) => {
  const tenant = await one.tenant()
  const { email, code } = await joined(one, tenant, { role: 'support' })
  // The code that it joined with is used up.
  one.passes(MINUTE)
  const opened = await openPage(one.base, width)
  const { page, complaints } = opened
  await page.goto('/console/sign-in')
  await page.getByRole('button', { name: 'Person' }).click()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('E-mail, password or code are wrong').waitFor()
  expect(complaints.splice(0)).toHaveLength(1)
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

test.skipIf(without)(named('a wrong key is refused in the words of the form, which stays'), async () => {
  const { page } = await openPage(one.base, 390)
  const refused = async (label: string, key: string) => {
    await page.getByLabel(label, { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await page.goto('/console/sign-in')
  await refused('Management key', 'mk_wrong')
  await page.getByRole('alert').getByText('This management key is unknown or was revoked.').waitFor()
  await refused('Management key', one.team_api_key)
  await page.getByRole('alert').getByText('Choose “Team key” above').waitFor()
  await page.getByRole('button', { name: 'Team key' }).click()
  await refused('Team API key', one.management_key)
  await page.getByRole('alert').getByText('Choose “Management key” above').waitFor()
  expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true)
})

test.skipIf(without)(named('the door opens on keys in a sandbox, on people in production, and on what was used last'), async () => {
  const { page } = await openPage(one.base)
  const chosen = page.getByRole('group', { name: 'How to sign in' }).locator('[aria-pressed=true]')
  await page.goto('/console/sign-in')
  expect(await chosen.textContent()).toBe('Management key')
  await page.route('**/console/sign-in', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace('content="sandbox"', 'content="production"') })
  })
  await page.reload()
  expect(await chosen.textContent()).toBe('Person')
  await signInByKey(page, one.team_api_key, 'Team key')
  await page.getByRole('button', { name: 'Sign out' }).click()
  expect(await chosen.textContent()).toBe('Team key')
})

test.skipIf(without)(named('whoever asked for a page before signing in comes to it afterwards'), async () => {
  const { base, team_id, management_key } = { ...one, ...(await one.tenant()) }
  const { page } = await openPage(base)
  await page.goto(`/console/t/${team_id}/webhooks`)
  await page.getByText('Sign in to go on to the page that you asked for.').waitFor()
  await page.getByRole('button', { name: 'Management key' }).click()
  await page.getByLabel('Management key', { exact: true }).fill(management_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
  expect(page.url()).toBe(`${base}/console/t/${team_id}/webhooks`)
})

test.skipIf(without)(named('what a page asks by itself is marked, and leaves no further audit row'), async () => {
  const tenant = await one.tenant()
  const { page, open } = await signedIn(one.base, tenant)
  const overview = () => page.waitForResponse((response) => response.url().endsWith('/console/overview'))
  const [asked] = await Promise.all([overview(), open('/')])
  expect(asked.request().headers()['x-assay-background']).toBeUndefined()
  await page.getByText('Live', { exact: true }).waitFor()
  const rows = () =>
    query(one.url, "select id from audit_log where team_id = $1 and action = 'getOverview' and via = 'console'", [tenant.team_id])
  const before = (await rows()).length
  const [byItself] = await Promise.all([overview(), place(tenant.api).then(() => one.runJobs())])
  expect([byItself.status(), byItself.request().headers()['x-assay-background']]).toEqual([200, '1'])
  expect(await rows()).toHaveLength(before)
})

test('the page may load nothing from elsewhere and run nothing inline; files that carry a hash are kept for good', async () => {
  const { base } = one
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

test('the page says which environment it belongs to', async () => {
  const server = Fastify()
  mountConsole(server, 'production')
  expect((await server.inject('/console')).body).toContain('<meta name="environment" content="production"')
})

test('a service whose console was not built says so and how to mend it', async () => {
  const server = Fastify()
  server.setErrorHandler((error, request, reply) => sendProblem(one.app, error, request, reply))
  mountConsole(server, 'sandbox', temporaryFolder())
  const answer = await server.inject('/console/orders')
  expect(answer.statusCode).toBe(503)
  expect(answer.json()).toMatchObject({ detail: { error_type: 'CONSOLE_NOT_BUILT', error_message: expect.stringContaining('npm start') } })
})
