import type { Page, Route } from 'playwright-core'

const isCall = (route: Route) => route.request().resourceType() === 'fetch'
const isSessionRequest = (route: Route) => route.request().url().endsWith('/console/session')

type Handler = (route: Route) => Promise<void>

/**
 * Handles requests to a URL until the returned function is called. The route stays, because removing one while a request waits
 * for it can leave that request without a response.
 */
export async function interceptRequests(page: Page, url: string | RegExp, handle: Handler) {
  let isActive = true
  await page.route(url, (route) => (isActive ? handle(route) : route.continue()))
  return () => {
    isActive = false
  }
}

/** Fails every request except the session, until the returned function is called. */
export const failRequests = (page: Page, fail: Handler) =>
  interceptRequests(page, '**/*', (route) => (isCall(route) && !isSessionRequest(route) ? fail(route) : route.continue()))

export const respondWithServerError = (route: Route) =>
  route.fulfill({ status: 500, json: { detail: { error_type: 'INTERNAL_ERROR', error_message: 'Something went wrong on our side.' } } })
