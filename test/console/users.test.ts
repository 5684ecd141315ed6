import { expect, test } from 'vitest'
import { auditRows } from '../support/audit.ts'
import { journey, noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { world } from '../support/world.ts'

const w = await world()

async function aPerson(width: number) {
  const tenant = await w.tenant()
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: `found-on-${width}` } })
  await tenant.api.putUserInfo({ params: { user_id }, body: someInfo() })
  return { tenant, user_id, ...(await openSignedIn(w.base, tenant, width)) }
}

journey(
  'a user is found by name, masked, and revealed with an audited reason',
  async (width) => {
    const { open, user_id, tenant, ...opened } = await aPerson(width)
    const { page } = opened
    await open('/users')
    await page.getByLabel('Search users').fill('quillf')
    await page.getByRole('link', { name: `found-on-${width}` }).click()
    const card = page.getByRole('region', { name: 'Demographics' })
    await card.getByText('Z••• Q•••').waitFor()
    expect(await card.getByText('Quillfeather').count()).toBe(0)

    await card.getByRole('button', { name: 'Reveal' }).click()
    await page.getByLabel('Reason').selectOption('Support request')
    await page.getByLabel('Reference').fill('ticket 4711')
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
    await card.getByText('Zephyrine Quillfeather').waitFor()
    await card.getByRole('button', { name: 'Mask' }).click()
    await card.getByText('Z••• Q•••').waitFor()
    const rows = await query(w.url, `select subject from ${auditRows} where team_id = $1 and via = $2 and reason is not null`, [
      tenant.team_id,
      'console',
    ])
    expect(rows).toHaveLength(1)
    expect(page.url()).toContain(user_id)
    return opened
  },
  { onPhone: true },
)

test.skipIf(noBrowser)(withSkipReason('deleting a user asks for the ID and can be undone from the toast and the user page'), async () => {
  const { page, open, user_id, tenant } = await aPerson(1440)
  await open(`/users/${user_id}`)
  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Delete user' }).isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm$/).fill('found-on-1440')
  await dialog.getByRole('button', { name: 'Delete user' }).click()
  await page.getByText('No users yet').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'found-on-1440' }).waitFor()

  await tenant.api.deleteUser({ params: { user_id } })
  await page.reload()
  await page.getByRole('button', { name: 'Restore user' }).click()
  await page.getByRole('heading', { name: 'found-on-1440' }).waitFor()
  expect(await tenant.api.getUser({ params: { user_id } })).toMatchObject({ user_id })
})
