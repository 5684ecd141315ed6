import { expect, test } from 'vitest'
import { fits, named, openPage, seriousIssues, signedIn, widths, without } from '../support/console-page.ts'
import { picture, tour } from '../support/console-tour.ts'
import { world } from '../support/world.ts'

const one = await world()
const tenant = await one.tenant({ team: 'Harbour Clinic' })

test.skipIf(without).each(widths)(
  named('on %s pages about the organisation, and those where nothing is yet, keep nobody out, fit, and ask nobody else'),
  async (_, width) => {
    await tour(one.base, tenant, width, [
      { name: 'overview-empty', path: '/', shows: 'Begin here' },
      { name: 'orders-empty', path: '/orders', shows: 'No orders yet' },
      { name: 'teams', path: '/organisation', shows: 'Harbour Clinic' },
      { name: 'people', path: '/organisation/people', shows: 'Nobody yet' },
      { name: 'management-keys', path: '/organisation/keys', shows: 'Org admin' },
      { name: 'lab-accounts', path: '/organisation/lab-accounts', shows: /account/i },
      { name: 'audit', path: '/organisation/audit', shows: 'The chain is intact' },
    ])
  },
)

test.skipIf(without).each(widths)(named('on %s nobody is kept out at the door'), async (_, width) => {
  const { page } = await openPage(one.base, width)
  await page.goto('/console/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await fits(page)
  await picture(page, `sign-in-${width}`)
})

test.skipIf(without)(named('shortcuts go to pages, explain themselves, and search opens by keyboard alone'), async () => {
  const { page } = await signedIn(one.base, tenant)
  await page.goto('/console')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.type('gu')
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  expect(await page.locator('h1:focus').textContent()).toBe('Users')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Place an order').waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or go to' }).waitFor()
  await page.keyboard.type('audit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
})
