import { expect, test } from 'vitest'
import { client } from '../../src/contract/client.ts'
import { codeAt, fromBase32, stepAt } from '../../src/people/rules-totp.ts'
import { PASSWORD, quick } from '../support/console.ts'
import { named, openPage, signedIn, widths, without } from '../support/console-page.ts'
import { world } from '../support/world.ts'

const one = await world({ env: quick })

test.skipIf(without).each(widths)(named('on %s a key is shown once, works, and is revoked'), async (_, width) => {
  const tenant = await one.tenant()
  const { page, open, complaints } = await signedIn(one.base, tenant, width)
  await open('/keys')
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByLabel('Label').fill('night backend')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const key = (await page.getByRole('dialog', { name: 'The new key' }).locator('code').textContent()) as string
  const api = client(one.base, { 'x-service-api-key': key })
  expect((await api.listUsers()).total).toBe(0)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.reload()
  await page.getByText('night backend').waitFor()
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Revoke night backend' }).click()
  await page.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('night backend is revoked.').waitFor()
  await expect(api.listUsers()).rejects.toMatchObject({ status: 401 })
  expect(complaints).toEqual([])
})

test.skipIf(without)(named('a person is invited, joins with a second factor, and signs in by name'), async () => {
  const tenant = await one.tenant()
  const { page } = await signedIn(one.base, tenant)
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByRole('button', { name: 'Invite a person' }).first().click()
  await page.getByLabel('E-mail').fill('ottoline@harbour.example')
  await page.getByRole('button', { name: 'Make the link' }).click()
  const link = (await page.getByRole('dialog', { name: 'Hand this link over' }).locator('code').textContent()) as string

  const invited = await openPage(one.base, 390)
  await invited.page.goto(`/console/invitation#${link.split('#')[1]}`)
  const secret = (await invited.page.locator('.secret code').textContent()) as string
  await invited.page.getByLabel('Your name').fill('Ottoline Keeper')
  await invited.page.getByLabel('Password').fill(PASSWORD)
  await invited.page.getByLabel('Code').fill(codeAt(fromBase32(secret), stepAt(one.app.wall())))
  await invited.page.getByRole('button', { name: 'Join' }).click()
  await invited.page.getByRole('heading', { name: 'Keep these codes' }).waitFor()
  const [recovery = ''] = ((await invited.page.locator('.secret code').textContent()) ?? '').split(' ')
  await invited.page.getByRole('button', { name: 'Go on' }).click()
  await invited.page.getByRole('heading', { name: 'Overview' }).waitFor()

  const again = await openPage(one.base)
  await again.page.goto('/console/sign-in')
  await again.page.getByLabel('E-mail').fill('ottoline@harbour.example')
  await again.page.getByLabel('Password').fill(PASSWORD)
  await again.page.getByLabel('Code').fill(recovery)
  await again.page.getByRole('button', { name: 'Sign in' }).click()
  await again.page.getByText('ottoline@harbour.example').waitFor()
})
