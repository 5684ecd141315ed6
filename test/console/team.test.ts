import { expect } from 'vitest'
import { journey, openSignedIn } from '../support/console-page.ts'
import { deploymentOf } from '../support/pipelines.ts'
import { world } from '../support/world.ts'

const w = await world()

journey('source credentials are added, replaced and removed, and the secret is never shown', async (width) => {
  const tenant = await w.tenant()
  const params = deploymentOf(tenant)
  const storedCredentials = async () => (await tenant.admin.listTeamCredentials({ params })).credentials
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/sources')
  await page.getByText('No credentials yet').waitFor()
  await page.getByRole('button', { name: 'Add credentials' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Source').selectOption('fitbit')
  await dialog.getByText('/v2/link/oauth/callback').waitFor()
  await dialog.getByLabel('Client ID').fill('harbor-app')
  await dialog.getByLabel('Client secret').fill('lantern-secret-1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('table').getByText('Fitbit').waitFor()
  const [first] = await storedCredentials()
  expect(first).toMatchObject({ source: 'fitbit', client_id: 'harbor-app', redirect_url_override: null })
  await page.reload()
  await page.getByRole('button', { name: 'Replace Fitbit' }).click()
  expect(await dialog.getByLabel('Client secret').inputValue()).toBe('')
  await dialog.getByLabel('Client secret').fill('lantern-secret-2')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain('lantern-secret')
  expect((await storedCredentials())[0]?.client_secret_hash).not.toBe(first?.client_secret_hash)
  await page.getByRole('button', { name: 'Remove Fitbit' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No credentials yet').waitFor()
  expect(await storedCredentials()).toEqual([])
  return opened
})

journey(
  'a lab test is created from markers, archived and restored',
  async (width) => {
    const tenant = await w.tenant()
    const { open, ...opened } = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await open('/lab-tests')
    await page.getByRole('link', { name: 'Create lab test' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Harbor Baseline')
    await page.getByLabel('Lab', { exact: true }).selectOption('quillmoor')
    await page.getByLabel('Description').fill('For every new member.')
    await page.getByLabel('Requires fasting').check()
    expect(await page.getByRole('button', { name: 'Create lab test' }).isDisabled()).toBe(true)
    await page.getByLabel('Add marker').fill('lipid')
    await page.getByRole('list', { name: 'Markers', exact: true }).getByRole('button', { name: /lipid/i }).first().click()
    await page.getByLabel('Add marker').fill('metabolic')
    await page
      .getByRole('list', { name: 'Markers', exact: true })
      .getByRole('button', { name: /metabolic/i })
      .first()
      .click()
    await page.getByText('2 markers').waitFor()
    await page.getByRole('button', { name: 'Create lab test' }).click()
    await page.getByRole('heading', { name: 'Harbor Baseline' }).waitFor()
    const [created] = (await tenant.api.listLabTests({ query: { own: true } })).data
    expect(created).toMatchObject({ name: 'Harbor Baseline', fasting: true, status: 'active', lab: { slug: 'quillmoor' } })
    expect(created?.markers).toHaveLength(2)
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByText('Archived', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Active', { exact: true }).waitFor()

    await open('/lab-tests')
    await page.getByLabel('Source').selectOption('Shared catalog')
    await page.getByRole('link', { name: 'Essential Wellness' }).click()
    await page.getByRole('heading', { name: 'Essential Wellness' }).waitFor()
    expect(await page.getByRole('button', { name: 'Archive' }).count()).toBe(0)
    return opened
  },
  { checkAccessibility: true },
)
