import { expect } from 'vitest'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { downloaded, journey, openSignedIn } from '../support/console-page.ts'
import { screenshot } from '../support/console-tour.ts'
import { aFailedMessage, aLabMessage, embedded, file, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aPatient, placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { replica, type Tenant, world } from '../support/world.ts'

const w = await world()
const { app } = w
const potassiumOnly = { order_set: { add_on: { marker_ids: [1017] } }, collection_method: 'walk_in_test' }

/** A team with an order of its own lab account that the lab has. */
async function aTeam(account: string) {
  const tenant = await w.tenant()
  const { api, org_id, team_id } = tenant
  await aLabAccount(app.db, { org_id, team_id, number: account })
  await setBetas(app, team_id, ['unmatched_results'])
  const { id } = await placeOrder(api, 'walk_in_test', { ...potassiumOnly, patient_details: aPatient() })
  await w.runJobs()
  return { tenant, order: await api.getOrder({ params: { order_id: id } }) }
}

const reportOf = (number: string) => [obr(number, potassium.order), obx(potassium, '4.4')]
const reveal = async (page: Awaited<ReturnType<typeof openSignedIn>>['page']) => {
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
}

let teams = 0

journey(
  'a person compares a result with its candidate, accepts it, and sends a rejected message again',
  async (width) => {
    const account = `CONSOLE-${++teams}`
    const { tenant, order } = await aTeam(account)
    const message_id = await aLabMessage(app, order)
    await file(app, { account, patient: pidOf({ ...people[0], first_name: 'Zoe' }) }, reportOf(order.sample_id as string))
    const { open, ...opened } = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await open('/unmatched-results')
    await page.getByRole('link', { name: /•••/ }).click()
    const candidate = page.getByRole('region', { name: /^Order / })
    await candidate.getByRole('rowheader', { name: /^First name\W+differs$/ }).waitFor()
    await candidate.getByRole('rowheader', { name: /^Last name\W+agrees$/ }).waitFor()
    expect(await page.getByText(people[0].last_name).count()).toBe(0)
    await reveal(page)
    await candidate.getByText(people[0].last_name).first().waitFor()
    await page
      .getByRole('region', { name: /^Values in the message/ })
      .getByText('4.4')
      .first()
      .waitFor()
    await screenshot(page, `unmatched-result-revealed-${width}`)
    await candidate.getByRole('button', { name: 'Accept' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('These patient fields differ: First name.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Accept' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Note').fill('Short form of the same name.')
    await dialog.getByRole('button', { name: 'Accept' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Accepted', { exact: true }).waitFor()
    expect(await tenant.api.getOrder({ params: { order_id: order.id } })).toMatchObject({ status: 'completed' })

    await open(`/lab-connections?order_id=${order.id}`)
    await page
      .getByRole('table')
      .getByRole('link', { name: /^Order/ })
      .click()
    await page.getByRole('rowheader', { name: 'PID-5' }).waitFor()
    expect(await page.getByText(people[0].last_name).count()).toBe(0)
    await reveal(page)
    await page.getByText(`${people[0].last_name}^${people[0].first_name}`).waitFor()
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('Message M1 is sent again.').waitFor()
    expect((await tenant.api.getLabMessage({ params: { message_id } })).state).toBe('pending')
    return opened
  },
  { checkAccessibility: true },
)

journey('a difference of the name, the birth date or the sex is marked red, and named for screen readers', async (width) => {
  const account = `CONSOLE-${++teams}`
  const { tenant, order } = await aTeam(account)
  const stranger = pidOf({ ...people[0], first_name: 'Zoe', dob: '1962-07-23' }, 'M')
  await file(app, { account, patient: stranger }, reportOf(order.sample_id as string))
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/unmatched-results')
  await page.getByRole('link', { name: /•••/ }).click()
  const candidate = page.getByRole('region', { name: /^Order / })
  await candidate.waitFor()
  const marked = candidate.locator('tr.differs')
  expect(await marked.getByRole('rowheader').allTextContents()).toEqual(['First name, differs', 'Birth date, differs', 'Sex, differs'])
  const colorOf = (row: string) => page.evaluate(`getComputedStyle(document.querySelector('.compared ${row} td')).color`)
  expect(await colorOf('tr.differs')).not.toBe(await colorOf('tr:not(.differs)'))
  return opened
})

journey('an order shows how many documents the lab sent, and each can be downloaded', async (width) => {
  const account = `CONSOLE-${++teams}`
  const { tenant, order } = await aTeam(account)
  const [rtf, first, second] = [Buffer.from('{\\rtf1 Reported by phone.}'), Buffer.from('%PDF-1.4 one'), Buffer.from('%PDF-1.4 two')]
  const documents = [embedded(rtf, 'TEXT^RTF', 'NOTE'), embedded(first, 'AP^PDF'), embedded(second, 'AP^PDF')]
  await file(app, { account }, [...reportOf(order.sample_id as string), ...documents])
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open(`/orders/${order.id}`)
  await page.getByText('The lab sent 3 documents with this report.').waitFor()
  await page.getByRole('link', { name: 'Read the documents' }).click()
  await page.getByRole('button', { name: 'Lab document 3 (RTF)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
  expect(await downloaded(page)).toEqual({ extension: 'rtf', bytes: rtf })
  for (const [name, bytes] of [
    ['Result report', first],
    ['Lab document 2 (PDF)', second],
  ] as const) {
    await page.getByRole('button', { name }).click()
    await page.getByTitle(name).waitFor()
    expect(await downloaded(page)).toEqual({ extension: 'pdf', bytes })
  }
  expect(await page.getByRole('button', { name: /^Lab document/ }).count()).toBe(2)
  return opened
})

journey('a person reads the documents of a result without values before accepting it', async (width) => {
  const account = `CONSOLE-${++teams}`
  const { tenant, order } = await aTeam(account)
  const [rtf, pdf] = [Buffer.from('{\\rtf1 Reported by phone.}'), Buffer.from('%PDF-1.4 a report')]
  const lines = [obr(order.sample_id as string, potassium.order), embedded(rtf, 'TEXT^RTF', 'NOTE'), embedded(pdf, 'AP^PDF')]
  await file(app, { account, patient: pidOf({ ...people[0], first_name: 'Zoe' }) }, lines)
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/unmatched-results')
  await page.getByRole('link', { name: /•••/ }).click()
  await page.getByText('The message has documents only.').waitFor()
  expect(await page.getByRole('group', { name: 'Document' }).getByRole('button').allInnerTexts()).toEqual([
    'Lab document 1 (RTF)',
    'Lab document 2 (PDF)',
  ])
  await page.getByRole('button', { name: 'Lab document 1 (RTF)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
  expect(await downloaded(page)).toEqual({ extension: 'rtf', bytes: rtf })
  await page.getByRole('button', { name: 'Lab document 2 (PDF)' }).click()
  await page.getByTitle('Lab document 2 (PDF)').waitFor()
  expect(await downloaded(page)).toEqual({ extension: 'pdf', bytes: pdf })
  return opened
})

journey('the overview leads to critical results without an order', async (width) => {
  const account = `CONSOLE-${++teams}`
  const { tenant, order } = await aTeam(account)
  const number = order.sample_id as string
  await file(app, { account, patient: pidOf({ ...people[0], first_name: 'Zoe' }) }, [obr(number, potassium.order), obx(potassium, '7.9')])
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/')
  const card = page.getByRole('region', { name: 'Critical results' })
  await card.getByText('1 without an order').waitFor()
  await card.getByRole('link', { name: 'Review unmatched results' }).click()
  await page.getByRole('heading', { name: 'Unmatched results' }).waitFor()
  await page.goBack()
  await card.getByText('1 without an order').waitFor()
  return opened
})

journey(
  'a person resolves a result with a reason, and the operator assigns one without a team',
  async (width) => {
    const account = `CONSOLE-${++teams}`
    const { tenant, order } = await aTeam(account)
    const number = order.sample_id as string
    await aLabMessage(app, order)
    await file(app, { account }, reportOf('UNKNOWN-1'))
    await file(app, { account: `NOBODY-${teams}` }, reportOf(number))
    await aFailedMessage(app, `FAILED-${teams}`)
    await aFailedMessage(app, `DISMISSED-${teams}`)
    const operated = await replica({ env: { OPERATOR_ORG_ID: tenant.org_id } })
    const { open, ...opened } = await openSignedIn(operated.base, tenant, width)
    const { page } = opened
    const dialog = page.getByRole('dialog')
    await open('/unmatched-results')
    await page.getByRole('link', { name: /•••/ }).click()
    await page.getByRole('button', { name: 'Resolve without an order' }).click()
    expect(await dialog.getByRole('button', { name: 'Resolve' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('Not our patient.')
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { data } = await tenant.api.listUnmatchedResults()
    expect(data).toMatchObject([{ resolution_action: 'reject', note: 'Not our patient.' }])

    await page.goto('/console/organization/unassigned-results')
    const row = page.getByRole('row').filter({ hasText: `NOBODY-${teams}` })
    await row.waitFor()
    await screenshot(page, `unassigned-results-${width}`)
    await row.getByRole('button', { name: 'Assign' }).click()
    // The team that placed the order is chosen already.
    await dialog.getByRole('button', { name: 'Assign' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await tenant.api.listUnmatchedResults({ query: { status: 'pending_customer_review' } })).data).toHaveLength(1)
    await page.goto('/console/organization/lab-connections')
    await page.getByText('Not configured').waitFor()
    const failed = page.getByRole('row').filter({ hasText: `FAILED-${teams}` })
    await failed.getByRole('button', { name: 'Process again' }).click()
    await page.getByText(`Processing message FAILED-${teams} again.`).waitFor()
    await failed.waitFor({ state: 'detached' })
    const dismissed = page.getByRole('row').filter({ hasText: `DISMISSED-${teams}` })
    await dismissed.getByRole('button', { name: 'Dismiss' }).click()
    await dismissed.waitFor({ state: 'detached' })
    await isHiddenFromOthers(operated.base)
    return opened
  },
  { checkAccessibility: true },
)

/** Another organization does not see the pages of the operator. */
async function isHiddenFromOthers(base: string) {
  const stranger: Tenant = await w.tenant()
  const { open, page } = await openSignedIn(base, stranger)
  await open('/unmatched-results')
  await page.getByRole('link', { name: 'Unmatched results', includeHidden: true }).waitFor({ state: 'attached' })
  expect(await page.getByRole('link', { name: 'Results without a team', includeHidden: true }).count()).toBe(0)
  await page.close()
}
