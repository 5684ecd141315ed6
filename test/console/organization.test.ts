import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { fastPasswords, PASSWORD, signIn } from '../support/console.ts'
import { journey, openPage, openSignedIn, seriousIssues } from '../support/console-page.ts'
import { screenshot } from '../support/console-tour.ts'
import { readQrCode } from '../support/qr.ts'
import { world } from '../support/world.ts'

const w = await world({ env: fastPasswords })

journey('a key is shown once, works and can be revoked', async (width) => {
  const tenant = await w.tenant()
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Label').fill('night backend')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const key = (await page.getByRole('dialog', { name: 'Key created' }).locator('code').textContent()) as string
  const api = createClient(w.base, { 'x-service-api-key': key })
  expect((await api.listUsers()).total).toBe(0)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.reload()
  await page.getByText('night backend').waitFor()
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Revoke night backend' }).click()
  await page.getByRole('button', { name: 'Revoke key', exact: true }).click()
  await page.getByText('Revoked night backend.').waitFor()
  await expect(api.listUsers()).rejects.toMatchObject({ status: 401 })
  return opened
})

async function scanQrCode(page: Page) {
  const shot = await page.getByRole('img', { name: /^QR code/ }).screenshot()
  return readQrCode(shot)
}

journey(
  'a person is invited, joins with a QR code and gets another role',
  async (width) => {
    const tenant = await w.tenant()
    const opened = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await page.goto('/console/organization/people')
    await page.getByRole('button', { name: 'Invite member' }).first().click()
    await page.getByLabel('Email').fill('ottoline@harbor.example')
    expect(await page.getByLabel('Role').inputValue()).toBe('read_only')
    await page.getByLabel('Role').selectOption('support')
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = (await page.getByRole('dialog', { name: 'Invitation link' }).locator('code').textContent()) as string
    await page.getByRole('button', { name: 'Done' }).click()

    const invited = await openPage(w.base, width)
    await invited.page.goto(`/console/invitation#${link.split('#')[1]}`)
    await invited.page.getByLabel('Your name').fill('Ottoline Keeper')
    await invited.page.getByLabel('Password').fill(PASSWORD)
    await invited.page.getByRole('button', { name: 'Accept invitation' }).click()
    const uri = new URL(await scanQrCode(invited.page))
    expect([uri.protocol, uri.searchParams.get('issuer')]).toEqual(['otpauth:', 'Harbor Health'])
    expect(await seriousIssues(invited.page)).toEqual([])
    await screenshot(invited.page, `invitation-${width}`)
    const secret = uri.searchParams.get('secret') as string
    await invited.page.getByLabel('Code', { exact: true }).fill(codeAt(fromBase32(secret), stepAt(w.app.wall())))
    await invited.page.getByRole('button', { name: 'Join' }).click()
    await invited.page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
    await invited.page.getByRole('button', { name: 'Continue' }).click()
    await invited.page.getByRole('heading', { name: 'Overview' }).waitFor()

    await page.reload()
    await page.getByRole('button', { name: 'Change role of Ottoline Keeper' }).click()
    await page.getByLabel('Role', { exact: true }).selectOption('read_only')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Role updated.').waitFor()
    await page.getByRole('table', { name: 'Members' }).getByText('Read only').waitFor()
    return opened
  },
  { checkAccessibility: true },
)

journey('the audit log shows who revealed data and why, and verifies its chain', async (width) => {
  const tenant = await w.tenant()
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'audited' } })
  const { forTeam } = await signIn(w.base, { management_key: tenant.management_key })
  await forTeam(tenant.team_id, { 'x-assay-reveal': 'a callback of today' }).api.getUser({ params: { user_id } })
  await w.runJobs()
  const opened = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await page.goto('/console/organization/audit')
  await page.getByText(/^Chain verified: [1-9]/).waitFor()
  await page.getByLabel('Type').selectOption('revealed')
  await page.waitForURL(/revealed=yes/)
  await page.getByText('a callback of today').waitFor()
  expect(await page.getByRole('table').getByText('Revealed').count()).toBe(1)
  return opened
})
