import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { fastPasswords, PASSWORD, signIn } from '../support/console.ts'
import { journey, openPage, openSignedIn, seriousIssues } from '../support/console-page.ts'
import { screenshot } from '../support/console-tour.ts'
import { readQrCode } from '../support/qr.ts'
import { query } from '../support/query.ts'
import { world } from '../support/world.ts'

const w = await world({ env: fastPasswords })

journey('a key is shown once, works, gets a rate, is rotated with an overlap and can be revoked', async (width) => {
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

  await page.getByRole('button', { name: 'Edit night backend' }).click()
  await page.getByLabel('Requests per second').fill('50')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Key saved.').waitFor()
  const params = { org_id: tenant.org_id, env: 'sandbox' as const, region: 'us' as const }
  const keys = async () => (await tenant.admin.listTeamKeys({ params })).api_keys.filter(({ label }) => label === 'night backend')
  expect(await keys()).toMatchObject([{ rate_limit: { requests_per_second: 50 }, expires_at: null }])

  await page.getByRole('button', { name: 'Rotate night backend' }).click()
  await page.getByLabel('Keep the old key until').fill(later(w.app.wall(), 2 * DAY).slice(0, 16))
  await page.getByRole('button', { name: 'Rotate key', exact: true }).click()
  const successor = (await page.getByRole('dialog', { name: 'Key created' }).locator('code').textContent()) as string
  await page.getByRole('button', { name: 'Done' }).click()
  const next = createClient(w.base, { 'x-service-api-key': successor })
  for (const each of [api, next]) expect((await each.listUsers()).total).toBe(0)
  expect(await keys()).toMatchObject([{ expires_at: expect.any(String) }, { rate_limit: { requests_per_second: 50 }, expires_at: null }])

  await page.getByRole('button', { name: 'Revoke night backend' }).last().click()
  await page.getByRole('button', { name: 'Revoke key', exact: true }).click()
  await page.getByText('Revoked night backend.').waitFor()
  await expect(next.listUsers()).rejects.toMatchObject({ status: 401 })
  return opened
})

journey('a team gets a request rate', async (width) => {
  const tenant = await w.tenant()
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/settings')
  await page.getByLabel('Requests per second').fill('500')
  await page.getByLabel('Burst').fill('900')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings saved.').waitFor()
  expect((await tenant.admin.getTeam({ params: tenant })).rate_limit).toEqual({ requests_per_second: 500, burst: 900 })
  return opened
})

journey(
  'a break of the audit log is listed until it is acknowledged',
  async (width) => {
    const tenant = await w.tenant()
    await tenant.api.listUsers()
    await w.runJobs()
    const aBreak = "insert into audit_breaks (chain_id, seq, to_seq, reason, found_at) values ($1, 1, 1, 'changed', now())"
    await query(w.url, aBreak, [tenant.team_id])
    const opened = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await page.goto('/console/organization/audit')
    await page.getByText('Chain broken at row 1: the row was changed').waitFor()
    await page.getByRole('button', { name: 'Acknowledge rows 1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('Break acknowledged.').waitFor()
    await page.getByText('Chain verified').waitFor()
    expect((await tenant.admin.verifyAuditLog({ params: tenant })).breaks).toEqual([])
    return opened
  },
  { checkAccessibility: true },
)

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
