import { expect } from 'vitest'
import { journey, openSignedIn } from '../support/console-page.ts'
import { someInfo } from '../support/people.ts'
import { deploymentOf } from '../support/pipelines.ts'
import { query } from '../support/query.ts'
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
  await page.getByRole('button', { name: 'Add credentials' }).first().click()
  await dialog.getByLabel('Source').selectOption('google_health')
  await dialog.getByLabel('Client ID').fill('harbor-app')
  await dialog.getByLabel('Client secret').fill('lantern-secret-3')
  const account = { project_id: 'harbor', client_email: 'assay@harbor.example' }
  await dialog.getByLabel('Service account').fill(JSON.stringify(account))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('The service account must be a JSON key').waitFor()
  await dialog.getByLabel('Service account').fill(JSON.stringify({ ...account, private_key: 'lantern-secret-4', type: 'service_account' }))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('table').getByText('Google health').waitFor()
  expect((await storedCredentials())[0]?.details).toEqual({ service_account: { ...account, private_key: '…' } })
  expect(await page.content()).not.toContain('lantern-secret')
  return opened
})

journey(
  'the connections of a team are shown, a period is read again, and a source of a user gets priority',
  async (width) => {
    const tenant = await w.tenant()
    const { api, admin, team_id } = tenant
    const { user_id } = await api.createUser({ body: { client_user_id: 'member-7' } })
    await api.putUserInfo({ params: { user_id }, body: someInfo() })
    const provider = 'oura' as const
    await admin.putTeamCredential({ params: deploymentOf(tenant), body: { team_id, provider, client_id: 'app', client_secret: 's' } })
    const connection = { user_id, access_token: 'a', refresh_token: 'r', provider_id: 'ada', expires_at: 0 }
    await api.bulkImport({ body: { provider, connections: [connection], wait_for_completion: true } })
    await api.connectDemo({ body: { user_id, provider: 'withings' } })
    const { open, ...opened } = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await open('/connections')
    await page.getByRole('row', { name: /^Oura/ }).getByText('1 pending').waitFor()
    await page.getByRole('button', { name: 'Read a period again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /member-7/ }).click()
    await dialog.getByLabel('Source', { exact: true }).selectOption('oura')
    await dialog.getByLabel('Resource').selectOption('workouts')
    await dialog.getByRole('button', { name: 'Read again' }).click()
    await page.getByText('Assay reads 1 resource of Oura again.').waitFor()
    expect(await query(w.url, 'select feed from cloud_changes where team_id = $1', [team_id])).toEqual([{ feed: 'workouts' }])
    const record = { record: 'sleep', reason: 'invalid', field: 'efficiency', since: '2026-03-01', seen_at: '2026-03-01' }
    const skipped = ['first', 'second'].map((key) => ({ key, ...record }))
    const failing = "update pull_jobs set tries = 3, error = 'malformed', skipped = $2 where team_id = $1 and feed = 'sleep'"
    await query(w.url, failing, [team_id, JSON.stringify(skipped)])
    await open(`/users/${user_id}`)
    const connections = page.getByRole('region', { name: 'Connections' })
    await connections.getByText('2 records skipped').waitFor()
    await connections.getByTitle('The source sent a response that Assay cannot read.').getByText('Reads failing').waitFor()
    await open(`/users/${user_id}/data`)
    await page
      .getByRole('img', { name: /^\d+ of 30 days with data/ })
      .first()
      .waitFor()
    await page.getByLabel('Period').selectOption('90')
    await page
      .getByRole('img', { name: /^\d+ of 90 days with data/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Move up Withings for Sleep' }).click()
    await page.getByText('Withings now comes before Oura.').waitFor()
    const sleep = await api.getSourcePriorities({ query: { data_type: 'sleep' } })
    const places = sleep.map(({ slug }) => slug).filter((slug) => slug === 'oura' || slug === 'withings')
    expect(places).toEqual(['withings', 'oura'])
    return opened
  },
  { checkAccessibility: true },
)

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
