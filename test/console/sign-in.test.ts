import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountConsole } from '../../src/http/console.ts'
import { sendProblem } from '../../src/http/refuse.ts'
import { named, openPage, signInByKey, without } from '../support/console-page.ts'
import { temporaryFolder, world } from '../support/world.ts'

const one = await world()

test.skipIf(without)(named('a management key opens every team and the organisation; signing out closes all of it'), async () => {
  const { base, management_key } = { ...one, ...(await one.tenant()) }
  const { page, complaints, outside } = await openPage(base)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signInByKey(page, management_key)
  await page.getByRole('link', { name: 'Audit log' }).waitFor()
  expect(await page.getByText('Harbour Health').first().isVisible()).toBe(true)
  expect(complaints).toEqual([])

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto('/console/orders')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(outside()).toEqual([])
})

test.skipIf(without)(named('a team key opens its team and no page of the organisation'), async () => {
  const { base, team_api_key } = { ...one, ...(await one.tenant()) }
  const { page } = await openPage(base)
  await signInByKey(page, team_api_key, 'Team key')
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByText('No orders yet').waitFor()
  expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
})

test.skipIf(without)(named('a wrong key is refused in words and the form stays'), async () => {
  const { base } = one
  const { page } = await openPage(base, 390)
  await page.goto('/console/sign-in')
  await page.getByRole('button', { name: 'Management key' }).click()
  await page.getByLabel('Management key', { exact: true }).fill('mk_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true)
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

test('a service whose console was not built says so and how to mend it', async () => {
  const server = Fastify()
  server.setErrorHandler((error, request, reply) => sendProblem(one.app, error, request, reply))
  mountConsole(server, temporaryFolder())
  const answer = await server.inject('/console/orders')
  expect(answer.statusCode).toBe(503)
  expect(answer.json()).toMatchObject({ detail: { error_type: 'CONSOLE_NOT_BUILT', error_message: expect.stringContaining('npm start') } })
})
