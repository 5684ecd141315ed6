import type { Page, Route } from 'playwright-core'

const isCall = (route: Route) => route.request().resourceType() === 'fetch'
const isOfSession = (route: Route) => route.request().url().endsWith('/console/session')

/** Fails every request except the session. */
export const fails = (page: Page, fail: (route: Route) => Promise<void>) =>
  page.route('**/*', (route) => (isCall(route) && !isOfSession(route) ? fail(route) : route.continue()))

export const broken = (route: Route) =>
  route.fulfill({ status: 500, json: { detail: { error_type: 'INTERNAL_ERROR', error_message: 'Something went wrong on our side.' } } })
