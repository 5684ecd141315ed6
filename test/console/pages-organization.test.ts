import { expect, test } from 'vitest'
import {
  expectNoOverflow,
  noBrowser,
  openPage,
  openSignedIn,
  resizePage,
  seriousIssues,
  widths,
  withSkipReason,
} from '../support/console-page.ts'
import { screenshot, tour } from '../support/console-tour.ts'
import { eventually } from '../support/process.ts'
import { world } from '../support/world.ts'

const w = await world()
const tenant = await w.tenant({ team: 'Harbor Clinic' })

test.skipIf(noBrowser)(
  withSkipReason(
    'organization pages and empty pages are accessible on a desktop and a phone, fit the screen and load nothing from other hosts',
  ),
  async () => {
    await tour(w.base, tenant, [
      { name: 'overview-empty', path: '/', shows: 'Get started' },
      { name: 'orders-empty', path: '/orders', shows: 'No orders yet' },
      { name: 'teams', path: '/organization', shows: 'Harbor Clinic' },
      { name: 'people', path: '/organization/people', shows: 'No members yet' },
      { name: 'management-keys', path: '/organization/keys', shows: 'Org admin' },
      { name: 'lab-accounts', path: '/organization/lab-accounts', shows: /account/i },
      { name: 'audit', path: '/organization/audit', shows: 'Chain verified' },
    ])
  },
)

test.skipIf(noBrowser)(withSkipReason('the sign-in page is accessible on a desktop and a phone'), async () => {
  const { page } = await openPage(w.base)
  await page.goto('/console/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  for (const [, width] of widths) {
    await resizePage(page, width)
    expect(await seriousIssues(page)).toEqual([])
    await expectNoOverflow(page)
    await screenshot(page, `sign-in-${width}`)
  }
})

test.skipIf(noBrowser)(withSkipReason('shortcuts open pages, the help and the search by keyboard'), async () => {
  const { page } = await openSignedIn(w.base, tenant)
  await page.goto('/console')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  // A busy machine may not send both keys within the shortcut's time limit, so this retries.
  await eventually(async () => {
    await page.keyboard.type('gu')
    await page.getByRole('heading', { name: 'Users' }).waitFor({ timeout: 5000 })
    return true
  })
  expect(await page.locator('h1:focus').textContent()).toBe('Users')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Place order').waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
  await page.keyboard.type('audit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
})
