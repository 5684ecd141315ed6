import { expect, test } from 'vitest'
import { expectNoOverflow, noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { world } from '../support/world.ts'

const w = await world()

test.skipIf(noBrowser)(withSkipReason('the search field keeps a space between two words'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  await open('/users')
  const field = page.getByLabel('Search users')
  await field.pressSequentially('ana ')
  await page.getByText('No user matches “ana”').waitFor()
  await field.pressSequentially('quill')
  await page.getByText('No user matches “ana quill”').waitFor()
})

test.skipIf(noBrowser)(withSkipReason('leaving a page cancels its pending search'), async () => {
  const { page } = await openSignedIn(w.base, w)
  await page.clock.install()
  await page.goto('/console/organization/audit')
  await page.getByLabel('Action').fill('getUser')
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByRole('heading', { name: 'People' }).waitFor()
  await page.getByRole('heading', { name: 'Members' }).waitFor()
  await page.clock.runFor(1000)
  expect(page.url()).toBe(`${w.base}/console/organization/people`)
})

test.skipIf(noBrowser)(withSkipReason('lists every key and expires a key at the end of its last day in the local time zone'), async () => {
  const tenant = await w.tenant()
  const params = { org_id: tenant.org_id, env: 'sandbox', region: 'us' } as const
  for (let i = 0; i < 54; i++) await tenant.admin.createTeamKey({ params, body: { label: `key ${i}`, team_id: tenant.team_id } })
  const { page, open } = await openSignedIn(w.base, tenant)
  const zone = await page.context().newCDPSession(page)
  await zone.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Los_Angeles' })
  await open('/keys')
  await page.getByText('key 53', { exact: true }).waitFor()
  await page.getByText('key 0', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Label').fill('until new year')
  await page.getByLabel('Expires on').fill('2037-12-31')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Done' }).waitFor()
  const query = { team_id: tenant.team_id }
  const { next_cursor } = await tenant.admin.listTeamKeys({ params, query })
  const { api_keys } = await tenant.admin.listTeamKeys({ params, query: { ...query, next_cursor } })
  expect(api_keys.find(({ label }) => label === 'until new year')?.expires_at).toBe('2038-01-01T08:00:00.000Z')
})

test.skipIf(noBrowser)(withSkipReason('a team with the longest name fits on a phone'), async () => {
  const tenant = await w.tenant({ team: 'Quay'.repeat(20) })
  const { page, open } = await openSignedIn(w.base, tenant, 390)
  await open('/settings')
  await page.getByRole('heading', { name: 'Team settings' }).waitFor()
  await expectNoOverflow(page)
  await page.goto('/console/organization/audit')
  await page.getByLabel('Source').waitFor()
  await expectNoOverflow(page)
})
