import type { Page, Route } from 'playwright-core'

const isCall = (route: Route) => route.request().resourceType() === 'fetch'
const isSessionRequest = (route: Route) => route.request().url().endsWith('/console/session')

/** Fails every request except the session. */
export const failRequests = (page: Page, fail: (route: Route) => Promise<void>) =>
  page.route('**/*', (route) => (isCall(route) && !isSessionRequest(route) ? fail(route) : route.continue()))

export const respondWithServerError = (route: Route) =>
  route.fulfill({ status: 500, json: { detail: { error_type: 'INTERNAL_ERROR', error_message: 'Something went wrong on our side.' } } })
