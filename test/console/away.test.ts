import type { Route } from 'playwright-core'
import { test } from 'vitest'
import { named, signedIn, without } from '../support/console-page.ts'
import { broken, fails } from '../support/console-trouble.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const one = await world()

const id = newUuid()
const pages = [
  ...['/', '/orders', `/orders/new?user_id=${id}`, `/orders/${id}`, '/users', `/users/${id}`],
  ...['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/attempts/${id}`, '/events', '/events/labtest.order.created', '/inbox'],
  ...['/lab-tests', '/lab-tests/new', `/lab-tests/${id}`, '/pipelines', '/sources', '/settings', '/keys'],
]
const ofOrganisation = ['', '/people', '/keys', '/lab-accounts', '/audit'].map((path) => `/console/organisation${path}`)

test.skipIf(without).each([
  ['a service that fails', broken, 'Something went wrong on our side.'],
  ['a service that is away', (route: Route) => route.abort(), 'The service cannot be reached.'],
] as const)(named('every page says it of %s, and none waits for ever'), async (_, fail, text) => {
  const { page, open } = await signedIn(one.base, one)
  await fails(page, fail)
  await open('/nowhere')
  for (const path of [...pages.map((path) => `/console/t/${one.team_id}${path}`), ...ofOrganisation]) {
    await page.evaluate(`history.pushState(null, '', '${path}'), dispatchEvent(new PopStateEvent('popstate'))`)
    await page.locator('#content').getByText(text).first().waitFor()
    await page.locator('#content .skeleton').first().waitFor({ state: 'detached' })
  }
})
