import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { PASSWORD, quick, signIn } from '../support/console.ts'
import { journey, openPage, seriousIssues, signedIn } from '../support/console-page.ts'
import { picture } from '../support/console-tour.ts'
import { readCode } from '../support/qr.ts'
import { world } from '../support/world.ts'

const one = await world({ env: quick })

journey('a key is shown once, works, and is revoked', async (width) => {
  const tenant = await one.tenant()
  const { open, ...opened } = await signedIn(one.base, tenant, width)
  const { page } = opened
  await open('/keys')
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByLabel('Label').fill('night backend')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const key = (await page.getByRole('dialog', { name: 'The new key' }).locator('code').textContent()) as string
  const api = createClient(one.base, { 'x-service-api-key': key })
  expect((await api.listUsers()).total).toBe(0)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.reload()
  await page.getByText('night backend').waitFor()
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Revoke night backend' }).click()
  await page.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('night backend is revoked.').waitFor()
  await expect(api.listUsers()).rejects.toMatchObject({ status: 401 })
  return opened
})

/** What a telephone reads from the QR code on the page. */
async function scanned(page: Page) {
  const shot = await page.getByRole('img', { name: /^QR code/ }).screenshot()
  return readCode(shot)
}

journey('a person is invited with a role, joins by scanning a QR code, and the role is changed', async (width) => {
  const tenant = await one.tenant()
  const opened = await signedIn(one.base, tenant, width)
  const { page } = opened
  await page.goto('/console/organisation/people')
  await page.getByRole('button', { name: 'Invite a person' }).first().click()
  await page.getByLabel('E-mail').fill('ottoline@harbour.example')
  await page.getByLabel('Role').selectOption('support')
  await page.getByRole('button', { name: 'Make the link' }).click()
  const link = (await page.getByRole('dialog', { name: 'Hand this link over' }).locator('code').textContent()) as string
  await page.getByRole('button', { name: 'I have copied it' }).click()

  const invited = await openPage(one.base, width)
  await invited.page.goto(`/console/invitation#${link.split('#')[1]}`)
  await invited.page.getByLabel('Your name').fill('Ottoline Keeper')
  await invited.page.getByLabel('Password').fill(PASSWORD)
  const uri = new URL(await scanned(invited.page))
  expect([uri.protocol, uri.searchParams.get('issuer')]).toEqual(['otpauth:', 'Harbour Health'])
  expect(await seriousIssues(invited.page)).toEqual([])
  await picture(invited.page, `invitation-${width}`)
  const secret = uri.searchParams.get('secret') as string
  await invited.page.getByLabel('Code', { exact: true }).fill(codeAt(fromBase32(secret), stepAt(one.app.wall())))
  await invited.page.getByRole('button', { name: 'Join' }).click()
  await invited.page.getByRole('heading', { name: 'Keep these codes' }).waitFor()
  await invited.page.getByRole('button', { name: 'Go on' }).click()
  await invited.page.getByRole('heading', { name: 'Overview' }).waitFor()

  await page.reload()
  await page.getByRole('button', { name: 'Role of Ottoline Keeper' }).click()
  await page.getByLabel('Role', { exact: true }).selectOption('read_only')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The role counts from now on.').waitFor()
  await page.getByRole('table', { name: 'Members' }).getByText('Read only').waitFor()
  return opened
})

journey('the audit log says who revealed what and why, and that nothing in it was changed', async (width) => {
  const tenant = await one.tenant()
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'audited' } })
  const { of } = await signIn(one.base, { management_key: tenant.management_key })
  await of(tenant.team_id, { 'x-assay-reveal': 'a callback of today' }).api.getUser({ params: { user_id } })
  await one.runJobs()
  const opened = await signedIn(one.base, tenant, width)
  const { page } = opened
  await page.goto('/console/organisation/audit')
  await page.getByText(/^The chain is intact: [1-9]/).waitFor()
  await page.getByLabel('Which').selectOption('revealed')
  await page.waitForURL(/revealed=yes/)
  await page.getByText('a callback of today').waitFor()
  expect(await page.getByRole('table').getByText('Revealed').count()).toBe(1)
  return opened
})
