import type { Route } from 'playwright-core'
import { test } from 'vitest'
import { failRequests, respondWithServerError } from '../support/console-failures.ts'
import { noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const w = await world()

const id = newUuid()
const pages = [
  ...['/', '/orders', `/orders/new?user_id=${id}`, `/orders/${id}`, '/users', `/users/${id}`],
  ...['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/attempts/${id}`, '/events', '/events/labtest.order.created', '/inbox'],
  ...['/lab-tests', '/lab-tests/new', `/lab-tests/${id}`, '/pipelines', '/sources', '/settings', '/keys'],
]
const organizationPages = ['', '/people', '/keys', '/lab-accounts', '/audit'].map((path) => `/console/organization${path}`)

test.skipIf(noBrowser).each([
  ['a failing service', respondWithServerError, 'Something went wrong on our side.'],
  ['an unreachable service', (route: Route) => route.abort(), 'Could not reach the service.'],
] as const)(withSkipReason('every page shows the error of %s and stops loading'), async (_, fail, text) => {
  const { page, open } = await openSignedIn(w.base, w)
  await failRequests(page, fail)
  await open('/nowhere')
  const goTo = (path: string) => page.evaluate(`history.pushState(null, '', '${path}'), dispatchEvent(new PopStateEvent('popstate'))`)
  for (const path of [...pages.map((path) => `/console/t/${w.team_id}${path}`), ...organizationPages]) {
    // A page without the error in between, because the previous page shows the same text.
    await goTo(`/console/t/${w.team_id}/nowhere`)
    await page.locator('#content').getByText('Page not found').first().waitFor()
    await goTo(path)
    await page.locator('#content').getByText(text).first().waitFor()
    await page.locator('#content .skeleton').first().waitFor({ state: 'detached' })
  }
})
