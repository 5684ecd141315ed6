import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { interceptRequests } from '../support/console-failures.ts'
import { noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { eventually } from '../support/process.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world()

const typed = {
  'First name': 'Zephyrine',
  'Last name': 'Quillfeather',
  'Date of birth': '1961-07-23',
  Phone: '+12025550143',
  Email: 'zephyrine.quillfeather@example.org',
  Street: '77 Marrowbone Crescent',
  State: 'AZ',
  'ZIP code': '85004',
}

test.skipIf(noBrowser)(withSkipReason('places one order after a failed check, a lost response and a double click'), async () => {
  const tenant = await w.tenant()
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'to-be-tested' } })
  const total = async () => (await tenant.api.listOrders({ query: { user_id } })).total
  const { page, open } = await openSignedIn(w.base, tenant)
  await open(`/orders/new?user_id=${user_id}`)
  await page.getByLabel('Lab test', { exact: true }).fill('essential')
  await page.getByRole('button', { name: /^Essential Wellness/ }).click()
  for (const [label, text] of Object.entries(typed)) await page.getByLabel(label, { exact: true }).fill(text)
  await page.getByLabel('Gender').selectOption('female')
  await page.route('**/v3/order/validate', (route) => route.abort())
  await page.getByLabel('City').fill('Tucson')
  await page.getByText('Not checked').waitFor()
  const recover = await interceptRequests(page, '**/v3/order', async (route) => {
    await route.fetch()
    await route.abort()
  })
  const submit = page.getByRole('button', { name: 'Place order' })
  await submit.click()
  await page.getByRole('alert').getByText('Could not reach the service.').waitFor()
  await eventually(async () => (await total()) === 1)
  expect(await page.getByLabel('City').inputValue()).toBe('Tucson')

  recover()
  await submit.dblclick()
  await page.getByRole('heading', { name: 'Essential Wellness' }).waitFor()
  expect(await total()).toBe(1)
})

test.skipIf(noBrowser)(withSkipReason('asks before leaving a half-filled order by shortcut, link or Back'), async () => {
  const { page, open } = await openSignedIn(w.base, await w.tenant())
  await open('/orders')
  await page.getByRole('link', { name: 'Place order' }).first().click()
  await page.getByLabel('City').waitFor()
  const answers = ['dismiss', 'dismiss', 'dismiss', 'accept'] as const
  const asked: string[] = []
  page.on('dialog', (dialog) => dialog[answers[asked.push(dialog.type()) - 1] ?? 'dismiss']())
  const users = page.getByRole('link', { name: 'Users', exact: true })
  await users.click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  expect(asked).toEqual([])

  await page.goBack()
  await page.getByLabel('City').waitFor()
  const closes = () => page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))")
  expect(await closes()).toBe(true)
  await page.getByLabel('City').fill('Tucson')
  await eventually(async () => !(await closes()))
  await page.getByLabel('City').blur()
  // A busy machine may not send both keys within the shortcut's time limit, so this retries.
  await eventually(async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    return asked.length
  })
  await users.click()
  await page.goBack()
  await eventually(() => asked.length > 2)
  expect(asked).toEqual(['confirm', 'confirm', 'confirm'])
  await page.waitForURL('**/orders/new')
  expect(await page.getByLabel('City').inputValue()).toBe('Tucson')
  await users.click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
  expect(asked).toHaveLength(4)
})

test.skipIf(noBrowser)(withSkipReason('a webhook takes event types one per line'), async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: (await aReceiver()).url })
  const { page, open } = await openSignedIn(w.base, tenant)
  await open(`/webhooks/${webhook.id}?tab=settings`)
  const types = page.getByLabel('Event types')
  await types.clear()
  await types.pressSequentially('labtest.order.*\nprovider.connection.created\n')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Webhook saved.').waitFor()
  const { filter_types } = await tenant.admin.getWebhook({ params: webhook.params })
  expect(filter_types).toEqual(['labtest.order.*', 'provider.connection.created'])
})

test.skipIf(noBrowser)(withSkipReason('a dialog works by keyboard and restores focus'), async () => {
  const tenant = await w.tenant()
  const { page, open } = await openSignedIn(w.base, tenant)
  await open('/keys')
  const create = page.getByRole('button', { name: 'Create key' })
  for (const leave of ['Escape', 'Cancel'] as const) {
    await create.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    if (leave === 'Escape') await page.keyboard.press('Escape')
    else await page.getByRole('button', { name: 'Cancel' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await eventually(async () => (await focusedText(page)) === 'Create key')
  }
  await page.keyboard.press('Enter')
  await page.getByLabel('Label').fill('by keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Done' }).press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await eventually(async () => (await focusedText(page)) === 'Create key')
})

const focusedText = (page: Page) => page.evaluate<string>('document.activeElement.textContent')

test.skipIf(noBrowser)(withSkipReason('a failed copy shows an error'), async () => {
  const { page, open } = await openSignedIn(w.base, w)
  await page.addInitScript("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
  await open('/settings')
  await page.getByRole('button', { name: 'Copy team ID' }).click()
  await page.getByText('The browser blocked the clipboard.').waitFor()
  expect(await page.getByRole('button', { name: 'Copied' }).count()).toBe(0)
})
