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
const organizationPages = ['', '/people', '/keys', '/lab-accounts', '/audit'].map((path) => `/console/organization${path}`)

test.skipIf(without).each([
  ['a failing service', broken, 'Something went wrong on our side.'],
  ['an unreachable service', (route: Route) => route.abort(), 'Could not reach the service.'],
] as const)(named('every page shows the error of %s and stops loading'), async (_, fail, text) => {
  const { page, open } = await signedIn(one.base, one)
  await fails(page, fail)
  await open('/nowhere')
  for (const path of [...pages.map((path) => `/console/t/${one.team_id}${path}`), ...organizationPages]) {
    await page.evaluate(`history.pushState(null, '', '${path}'), dispatchEvent(new PopStateEvent('popstate'))`)
    await page.locator('#content').getByText(text).first().waitFor()
    await page.locator('#content .skeleton').first().waitFor({ state: 'detached' })
  }
})
