import { expect, test } from 'vitest'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { noBrowser, openSignedIn, openWithSession, withSkipReason } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const w = await world({ env: fastPasswords })

test.skipIf(noBrowser)(withSkipReason('the Back button returns to the team in the URL'), async () => {
  const tenant = await w.tenant()
  const { id: other } = await tenant.admin.createTeam({ params: { org_id: tenant.org_id }, body: { name: 'Quay', region: 'us' } })
  await tenant.api.createUser({ body: { client_user_id: 'of-harbor' } })
  const { page, open } = await openSignedIn(w.base, tenant)
  await open('/users')
  await page.getByRole('link', { name: 'of-harbor' }).waitFor()
  await page.getByRole('combobox', { name: 'Team' }).selectOption('Quay')
  await page.getByText('No users yet').waitFor()
  expect(page.url()).toContain(`/t/${other}/`)
  await page.goBack()
  await page.getByRole('link', { name: 'of-harbor' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Team' }).inputValue()).toBe(tenant.team_id)
})

test.skipIf(noBrowser)(withSkipReason("a URL of an inaccessible team shows an error and no other team's data"), async () => {
  const tenant = await w.tenant()
  await tenant.api.createUser({ body: { client_user_id: 'of-harbor' } })
  const { page } = await openSignedIn(w.base, tenant)
  for (const team of [w.team_id, newUuid(), 'nonsense']) {
    await page.goto(`/console/t/${team}/users`)
    await page.getByText("You don't have access to this team").waitFor()
  }
  expect(await page.getByText('of-harbor').count()).toBe(0)
  await page.getByRole('link', { name: 'Go to overview' }).click()
  await page.getByText('Get started').or(page.getByText('Orders by phase')).first().waitFor()
})

test.skipIf(noBrowser)(withSkipReason('list filters are kept in the URL and survive a reload'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  await open('/events')
  await page.getByLabel('Category').selectOption('provider')
  await page.waitForURL(/\?family=provider$/)
  await page.getByRole('link', { name: 'provider.connection.created' }).waitFor()
  await open('/lab-tests?method=testkit')
  await page.getByLabel('Search lab tests').fill('heart')
  await page.waitForURL(/\?method=testkit&name=heart$/)
  await page.reload()
  await page.getByRole('link', { name: 'Heart' }).first().waitFor()
  expect([await page.getByLabel('Collection').inputValue(), await page.getByLabel('Search lab tests').inputValue()]).toEqual([
    'testkit',
    'heart',
  ])
  expect(await page.getByRole('link', { name: 'Essential Wellness' }).count()).toBe(0)
})

test.skipIf(noBrowser)(withSkipReason('data revealed on one order is masked on the next'), async () => {
  const tenant = await w.tenant()
  const [first, next] = [await placeOrder(tenant.api), await placeOrder(tenant.api)]
  const { page, open } = await openSignedIn(w.base, tenant)
  await open(`/orders/${first.id}`)
  const patient = page.getByRole('region', { name: 'Patient' })
  await patient.getByRole('button', { name: 'Reveal' }).click()
  await page.getByLabel('Reference').fill('100 % → 東')
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
  await patient.getByText(`${people[0].first_name} ${people[0].last_name}`).waitFor()

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill(next.id)
  await page.getByRole('option', { name: 'Open order by ID' }).click()
  await page.waitForURL(new RegExp(next.id))
  await patient.getByText('Z••• Q•••').waitFor()
  await patient.getByRole('button', { name: 'Reveal' }).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a role that cannot place orders sees no link and gets an explanation at the URL'), async () => {
  const tenant = await w.tenant()
  const { cookie } = await joinOrganization(w, tenant, { role: 'support' })
  const { page, open } = await openWithSession(w.base, cookie, tenant.team_id)
  await open('/orders')
  await page.getByText('No orders yet').waitFor()
  expect(await page.getByRole('link', { name: 'Place order' }).count()).toBe(0)
  await open('/orders/new')
  await page.getByText("Your role can't place orders").waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a role that cannot move the sandbox clock sees only the time'), async () => {
  const tenant = await w.tenant()
  const { cookie } = await joinOrganization(w, tenant, { role: 'read_only' })
  const { page, open } = await openWithSession(w.base, cookie, tenant.team_id)
  await open('/orders')
  await page.getByRole('button', { name: 'Sandbox clock, real time' }).click()
  await page.getByText("Your role can't move the clock.").waitFor()
  expect(await page.getByRole('button', { name: '+1 day' }).count()).toBe(0)
})

test.skipIf(noBrowser)(withSkipReason('an old organization URL redirects to the renamed path'), async () => {
  const { page } = await openSignedIn(w.base, await w.tenant())
  await page.goto('/console/organisation/audit?via=api')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  expect(page.url()).toBe(`${w.base}/console/organization/audit?via=api`)
})
