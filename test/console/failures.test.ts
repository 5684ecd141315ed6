import { expect, test } from 'vitest'
import { failRequests, interceptRequests, respondWithServerError } from '../support/console-failures.ts'
import { noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { world } from '../support/world.ts'

const w = await world()

test.skipIf(noBrowser)(withSkipReason('a failed request can be retried'), async () => {
  const tenant = await w.tenant()
  await tenant.api.createUser({ body: { client_user_id: 'there-all-along' } })
  const { page, open } = await openSignedIn(w.base, tenant)
  const recover = await failRequests(page, respondWithServerError)
  await open('/users')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  recover()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'there-all-along' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a failing service does not sign the user out'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  const recover = await interceptRequests(page, '**/console/session', respondWithServerError)
  await open('/orders')
  await page.getByText('Something went wrong on our side.').waitFor()
  expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0)
  recover()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Orders' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a page whose script fails to load shows an error, and the menu keeps working'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  await open('/users')
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  const recover = await interceptRequests(page, /\/assets\/audit.*\.js/, (route) => route.abort())
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('This page failed to load.').waitFor()
  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Reload page' }).waitFor()
  recover()
  await page.getByRole('button', { name: 'Reload page' }).click()
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a failed sign-out shows an error and keeps the session'), async () => {
  const tenant = await w.tenant()
  const { page, open } = await openSignedIn(w.base, tenant)
  await open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const recover = await interceptRequests(page, '**/console/session', respondWithServerError)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Something went wrong on our side.').waitFor()
  expect(await page.getByRole('heading', { name: 'Overview' }).isVisible()).toBe(true)
  recover()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('signing out clears the search for the next person'), async () => {
  const tenant = await w.tenant()
  await placeOrder(tenant.api)
  const { page, open } = await openSignedIn(w.base, tenant)
  await open('/orders')
  await page.getByLabel('Search orders').fill('Quillfeather')
  await page.getByText('1–1 of 1').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Management key' }).click()
  await page.getByLabel('Management key', { exact: true }).fill(tenant.management_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByText('1–1 of 1').waitFor()
  expect(await page.getByLabel('Search orders').inputValue()).toBe('')
})

test.skipIf(noBrowser)(withSkipReason('a foreign response shows an error, and an unexpected one breaks only its page'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  await page.route('**/v3/orders?*', (route) => route.fulfill({ body: '<h1>Welcome to the hotel</h1>', contentType: 'text/html' }))
  await open('/orders')
  await page.getByText('The response did not come from Assay.').waitFor()
  await page.route('**/v3/orders?*', (route) => route.fulfill({ json: {} }))
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The console could not display this page.').waitFor()
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
})
