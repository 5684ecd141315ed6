import { expect, test } from 'vitest'
import { consentTypes } from '../../src/contract/labs/new-order.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { journey, noBrowser, openSignedIn, openWithSession, withSkipReason } from '../support/console-page.ts'
import { aCriticalOrder, acknowledge, correct, placeOrder } from '../support/orders.ts'
import { someInfo } from '../support/people.ts'
import { world } from '../support/world.ts'

const instance = await world({ env: fastPasswords })

journey(
  'places an order after its errors are fixed',
  async (width) => {
    const w = { ...instance, ...(await instance.tenant()) }
    const { user_id } = await w.api.createUser({ body: { client_user_id: `placed-on-${width}` } })
    const { open, ...opened } = await openSignedIn(w.base, w, width)
    const { page } = opened
    await open(`/orders/new?user_id=${user_id}`)
    await page.getByLabel('Lab test', { exact: true }).fill('essential')
    await page.getByRole('button', { name: /^Essential Wellness/ }).click()
    await page.getByLabel('First name', { exact: true }).fill('Zephyrine')
    await page.getByLabel('Last name', { exact: true }).fill('Quillfeather')
    await page.getByLabel('Date of birth').fill('1961-07-23')
    await page.getByLabel('Gender').selectOption('female')
    await page.getByLabel('Phone').fill('+12025550143')
    await page.getByLabel('Email').fill('zephyrine.quillfeather@example.org')
    await page.getByLabel('Street').fill('77 Marrowbone Crescent')
    await page.getByLabel('City').fill('Phoenix')
    await page.getByLabel('State').fill('AZ')
    await page.getByLabel('ZIP code').fill('850')
    await page.getByText('Must be five digits').first().waitFor()
    await page.getByRole('button', { name: 'Place order' }).click()
    expect(await page.locator('input:focus').getAttribute('data-path')).toBe('patient_address.zip')
    expect((await w.api.listOrders({ query: { user_id } })).total).toBe(0)

    await page.getByLabel('ZIP code').fill('85004')
    await page.getByText('This order is ready to place.').waitFor()
    await page.getByRole('button', { name: 'Place order' }).click()
    await page.getByRole('heading', { name: 'Essential Wellness' }).waitFor()
    const { orders } = await w.api.listOrders({ query: { user_id } })
    expect(page.url()).toBe(`${w.base}/console/t/${w.team_id}/orders/${orders[0]?.id}`)
    return opened
  },
  { onPhone: true },
)

test.skipIf(noBrowser)(withSkipReason('an order records only the consents that are checked'), async () => {
  const w = { ...instance, ...(await instance.tenant()) }
  const { user_id } = await w.api.createUser({ body: { client_user_id: 'with-consents' } })
  await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
  const { page, open } = await openSignedIn(w.base, w)
  await open(`/orders/new?user_id=${user_id}`)
  await page.getByLabel('Lab test', { exact: true }).fill('essential')
  await page.getByRole('button', { name: /^Essential Wellness/ }).click()
  await page.getByRole('button', { name: 'Fill from user record' }).click()
  const consents = page.getByRole('group', { name: 'Consents the patient gave' })
  const boxes = consents.getByRole('checkbox')
  expect(await boxes.count()).toBe(consentTypes.length)
  for (const box of await boxes.all()) expect(await box.isChecked()).toBe(false)
  for (const name of ['HIPAA authorization', 'Terms of use', 'Privacy policy']) await consents.getByLabel(name).check()
  await consents.getByLabel('Privacy policy').uncheck()
  await page.getByText('This order is ready to place.').waitFor()
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v3/order')),
    page.getByRole('button', { name: 'Place order' }).click(),
  ])
  expect(sent.postDataJSON().consents).toEqual([{ consentType: 'hipaa-authorization' }, { consentType: 'terms-of-use' }])
  await page.getByRole('heading', { name: 'Essential Wellness' }).waitFor()
})

journey(
  'simulates critical results, acknowledges them with a note after opening them from the overview, and opens the report',
  async (width) => {
    const w = { ...instance, ...(await instance.tenant()) }
    const order = await placeOrder(w.api)
    await w.runJobs()
    const { cookie } = await joinOrganization(w, w, { role: 'org_admin' })
    const { open, ...opened } = await openWithSession(w.base, cookie, w.team_id, width)
    const { page } = opened
    await open(`/orders/${order.id}`)
    const steps = page.getByRole('list', { name: 'Order timeline' })
    await steps.getByText('Requisition created').waitFor()
    await page.getByRole('button', { name: 'Simulate results' }).click()
    await page.getByLabel('Interpretation', { exact: true }).selectOption('critical')
    await page.getByRole('dialog').getByRole('button', { name: 'Simulate results' }).click()
    await page.locator('[aria-current=step]').getByText('Completed').waitFor()
    await page.getByRole('link', { name: 'Results', exact: true }).click()
    await page.getByRole('table', { name: 'Results' }).getByText('Critical').first().waitFor()
    expect(await page.getByRole('img', { name: /^Glucose .* range/ }).count()).toBe(1)

    await open('')
    expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
    await page.getByRole('link', { name: /^Open result of order/ }).click()
    await page.getByRole('table', { name: 'Results' }).getByText('Critical').first().waitFor()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Acknowledge' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Who was informed?').fill('Called the patient')
    await dialog.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('Critical result acknowledged just now by Ottoline Keeper').waitFor()
    expect(await w.api.getCriticalResult({ params: { order_id: order.id } })).toMatchObject({
      ...{ acknowledged_by: { type: 'person' }, note: 'Called the patient' },
    })

    await page.getByRole('link', { name: 'Documents' }).click()
    await page.getByRole('button', { name: 'Result report' }).click()
    const [report] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/result/pdf')),
      page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click(),
    ])
    expect([report.status(), report.headers()['content-type']]).toEqual([200, 'application/pdf'])
    await page.getByTitle('Result report').waitFor()
    return opened
  },
  { checkAccessibility: true },
)

test.skipIf(noBrowser)(withSkipReason('a session of a key shows an open critical result without a button to acknowledge it'), async () => {
  const w = { ...instance, ...(await instance.tenant()) }
  const { id } = await aCriticalOrder(w.api)
  const { page, open } = await openSignedIn(w.base, w)
  await open(`/orders/${id}`)
  await page.getByText('Sign in with your own account to acknowledge it.').waitFor()
  expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
  await acknowledge(w.api, id)
  await page.reload()
  await page.getByText(/by Marigold Ashdown \(physician, staff-17\)\. Sent with: Team API key/i).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('a report that arrives while the dialog is open is not acknowledged unseen'), async () => {
  const w = { ...instance, ...(await instance.tenant()) }
  const { id } = await aCriticalOrder(w.api)
  const { cookie } = await joinOrganization(w, w, { role: 'org_admin' })
  const { page, open } = await openWithSession(w.base, cookie, w.team_id)
  await open(`/orders/${id}?tab=results&review=open`)
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await correct(w.api, id, 'normal')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Who was informed?').fill('Called the patient')
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await dialog.getByText('The lab has sent a newer report. Close this dialog, read the results again').waitFor()
  expect((await w.api.getCriticalResult({ params: { order_id: id } })).acknowledged_at).toBeNull()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await dialog.getByLabel('Who was informed?').fill('Called the patient')
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText(/^Critical result acknowledged just now by Ottoline Keeper/).waitFor()
})

test.skipIf(noBrowser)(withSkipReason('an order that failed after partial results is not shown as normal'), async () => {
  const w = { ...instance, ...(await instance.tenant()) }
  const { api } = w
  const [failed, done] = [await placeOrder(api), await placeOrder(api)]
  await w.runJobs()
  const simulate = (order_id: string, final_status: 'partial_results' | 'sample_error' | 'completed', top: string) =>
    api.simulateOrder({ params: { order_id }, query: { final_status: `${top}.walk_in_test.${final_status}` as never }, body: null })
  await simulate(failed.id, 'partial_results', 'sample_with_lab')
  await simulate(failed.id, 'sample_error', 'failed')
  await simulate(done.id, 'completed', 'completed')
  const { page, open } = await openSignedIn(w.base, w)
  await open('/orders')
  const toneIn = (text: string) => page.locator('#content .status').getByText(text, { exact: true }).getAttribute('class')
  expect([await toneIn('Partial: normal'), await toneIn('Normal')]).toEqual(['status tone-idle', 'status tone-good'])
  await page.getByRole('row').filter({ hasText: 'Specimen error' }).getByRole('link').click()
  await page.getByRole('table', { name: 'Results' }).waitFor()
  expect(await page.getByRole('region', { name: 'Results' }).first().locator('header .status').textContent()).toBe('Partial: normal')
})

test.skipIf(noBrowser)(withSkipReason('advancing the sandbox clock sends a scheduled order to the lab'), async () => {
  const w = { ...instance, ...(await instance.tenant()) }
  const soon = new Date(Date.parse(w.app.now()) + 4 * 86_400_000).toISOString().slice(0, 10)
  const order = await placeOrder(w.api, 'walk_in_test', { activate_by: soon })
  const { page, open } = await openSignedIn(w.base, w)
  await open(`/orders/${order.id}`)
  await page.getByText('Hold until').waitFor()
  await page.getByRole('button', { name: /^Sandbox clock/ }).click()
  await page.getByRole('button', { name: '+1 week' }).click()
  await page.getByText('Clock advanced by 1 week.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.locator('[aria-current=step]').getByText('Requisition created').waitFor()
  await page.getByRole('button', { name: 'Sandbox clock, 7 days ahead' }).waitFor()
})

test.skipIf(noBrowser)(
  withSkipReason('filters the list by phase in the URL, by name outside the URL, and moves through rows by keyboard'),
  async () => {
    const w = { ...instance, ...(await instance.tenant()) }
    const done = await placeOrder(w.api)
    const waiting = await placeOrder(w.api, 'testkit')
    await w.runJobs()
    await w.api.simulateOrder({ params: { order_id: done.id }, body: null })
    const { page, open } = await openSignedIn(w.base, w)
    await open('/orders')
    await page.getByRole('row').nth(2).waitFor()
    await page.getByRole('button', { name: 'Completed' }).click()
    await page.waitForURL(/\?stage=completed$/)
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByLabel('Search orders').fill('zeph')
    await page.getByText('1–2 of 2').waitFor()
    expect(page.url()).not.toContain('zeph')
    await page.getByLabel('Search orders').fill(waiting.id.slice(0, 8))
    await page.getByText('1–1 of 1').waitFor()
    await page.getByLabel('Search orders').blur()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/orders/${waiting.id}$`))
  },
)

journey(
  'adds a courier, labels a kit, follows its parcel, and lists the kit once it is overdue',
  async (width) => {
    const tenant = await instance.tenant()
    const { api } = tenant
    const { id } = await placeOrder(api, 'testkit')
    await instance.runJobs()
    const { open, ...opened } = await openSignedIn(instance.base, tenant, width)
    const { page } = opened
    const dialog = page.getByRole('dialog')
    const shipment = page.getByRole('region', { name: 'Shipment' })
    const fill = (label: string, text: string) => dialog.getByLabel(label, { exact: true }).fill(text)
    const submit = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
    const secrets: (string | null)[] = []
    const readSecret = async () => {
      secrets.push(await dialog.locator('.secret code').textContent())
      await submit('Done')
      await dialog.waitFor({ state: 'detached' })
    }

    await open('/kits?tab=couriers')
    await page.getByRole('button', { name: 'Add courier' }).click()
    await fill('Code', 'swift')
    await fill('Name', 'Swift Parcel')
    await fill('Tracking page', 'https://swift.example/{number}')
    await submit('Add courier')
    await readSecret()
    await page.getByRole('button', { name: 'Rotate secret: Swift Parcel' }).click()
    await submit('Rotate secret')
    await readSecret()
    expect(new Set(secrets).size).toBe(2)
    for (const secret of secrets) expect(secret).toMatch(/^whsec_/)
    const body = { name: 'Swift Parcel', tracking_url: 'https://swift.example/{number}' }
    const courier = await api.putCourier({ params: { courier: 'swift' }, body })
    expect(courier.secret).toBe(secrets[1])

    await open('/kits?tab=limits')
    await page.getByLabel('Days on the way to the patient').fill('4')
    await page.getByLabel('Days on the way to the lab').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Limits saved.').waitFor()
    expect(await api.getKitLimits()).toEqual({ to_customer_days: 4, with_customer_days: 30, to_lab_days: null })

    await open(`/orders/${id}`)
    await shipment.getByText('No labels are recorded.').waitFor()
    await shipment.getByRole('button', { name: 'Set labels' }).click()
    await fill('Tracking number to the patient', 'OUT 100-1')
    await fill('Tracking number to the lab', 'RET1001')
    await submit('Save')
    await shipment.getByText('Swift Parcel').first().waitFor()
    expect(await shipment.getByText('OUT1001').count()).toBe(0)
    await page.getByRole('button', { name: 'Reveal' }).click()
    await dialog.getByRole('textbox').fill('The patient asks where the kit is')
    await submit('Reveal')
    expect(await shipment.getByRole('link', { name: 'OUT1001' }).getAttribute('href')).toBe('https://swift.example/OUT1001')
    await shipment.getByRole('link', { name: 'RET1001' }).waitFor()
    await shipment.getByRole('button', { name: 'Report status' }).click()
    await dialog.getByLabel('Status', { exact: true }).selectOption('transit_customer')
    await submit('Report status')
    await page.locator('[aria-current=step]').getByText('In transit to customer').waitFor()

    await api.moveClock({ body: { advance_seconds: 5 * 24 * 3600 } })
    await open('/kits')
    await page.getByRole('table').getByRole('link').getByText('Problem in transit to customer').waitFor()
    await open('/kits?tab=couriers')
    await page.getByRole('button', { name: 'Remove: Swift Parcel' }).click()
    await submit('Remove courier')
    await page.getByText('No couriers yet').waitFor()
    return opened
  },
  { checkAccessibility: true },
)
