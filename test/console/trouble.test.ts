import { expect, test } from 'vitest'
import { named, signedIn, without } from '../support/console-page.ts'
import { broken, fails } from '../support/console-trouble.ts'
import { place } from '../support/orders.ts'
import { world } from '../support/world.ts'

const one = await world()

test.skipIf(without)(named('what failed is asked for again when somebody says so'), async () => {
  const tenant = await one.tenant()
  await tenant.api.createUser({ body: { client_user_id: 'there-all-along' } })
  const { page, open } = await signedIn(one.base, tenant)
  await fails(page, broken)
  await open('/users')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.unroute('**/*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'there-all-along' }).waitFor()
})

test.skipIf(without)(named('whoever is signed in stays so while the service cannot tell'), async () => {
  const { page, open } = await signedIn(one.base, one)
  await page.route('**/console/session', broken)
  await open('/orders')
  await page.getByText('Something went wrong on our side.').waitFor()
  expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0)
  await page.unroute('**/console/session')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Orders' }).waitFor()
})

test.skipIf(without)(named('a page whose script cannot be loaded says so, and the menu goes on working'), async () => {
  const { page, open } = await signedIn(one.base, one)
  await open('/users')
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  await page.route(/\/assets\/audit.*\.js/, (route) => route.abort())
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('A part of the console could not be loaded').waitFor()
  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Load the page again' }).waitFor()
  await page.unroute(/\/assets\/audit.*\.js/)
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
})

test.skipIf(without)(named('signing out that fails is said, and the session goes on until it does not'), async () => {
  const tenant = await one.tenant()
  const { page, open } = await signedIn(one.base, tenant)
  await open('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.route('**/console/session', broken)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Something went wrong on our side.').waitFor()
  expect(await page.getByRole('heading', { name: 'Overview' }).isVisible()).toBe(true)
  await page.unroute('**/console/session')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test.skipIf(without)(named('what the one before searched for is gone when the next signs in at the same page'), async () => {
  const tenant = await one.tenant()
  await place(tenant.api)
  const { page, open } = await signedIn(one.base, tenant)
  await open('/orders')
  await page.getByLabel('Search orders').fill('Quillfeather')
  await page.getByText('1 to 1 of 1').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Management key' }).click()
  await page.getByLabel('Management key', { exact: true }).fill(tenant.management_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByText('1 to 1 of 1').waitFor()
  expect(await page.getByLabel('Search orders').inputValue()).toBe('')
})

test.skipIf(without)(
  named('an answer that is none of the service is said to be, and one that nobody foresaw breaks its page only'),
  async () => {
    const { page, open } = await signedIn(one.base, one)
    await page.route('**/v3/orders?*', (route) => route.fulfill({ body: '<h1>Welcome to the hotel</h1>', contentType: 'text/html' }))
    await open('/orders')
    await page.getByText('Something else answered in place of the service.').waitFor()
    await page.unroute('**/v3/orders?*')
    await page.route('**/v3/orders?*', (route) => route.fulfill({ json: {} }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('This page broke while it was drawn.').waitFor()
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('heading', { name: 'Users' }).waitFor()
  },
)
