import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { applyRetention } from '../../src/delivery/webhooks/repair/retention.ts'
import { sendMessages } from '../../src/labs/communication/actions.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { startMailServer } from '../support/smtp.ts'
import { replica, world } from '../support/world.ts'

const mailServer = await startMailServer()
const env = { SMTP_URL: mailServer.url, MAIL_FROM: 'no-reply@harbor.example', PUBLIC_URL: 'https://assay.harbor.example' }
const w = await world({ env })
// A Monday morning in Phoenix.
const NOW = '2027-03-01T14:50:00.000Z'
w.stopTime(Date.parse(NOW))

const brand_information = { company_name: 'Harbor Health', company_website: 'https://harbor.example', support_email: 'help@harbor.example' }

async function newTeam(settings: object = {}) {
  const tenant = await w.tenant()
  await tenant.admin.patchTeam({ params: tenant, body: { sandbox: { brand_information, ...settings } } })
  return tenant
}

async function send() {
  while (await sendMessages(w.app));
  return mailServer.take()
}

async function accepted(api: Client, method: Parameters<typeof placeOrder>[1] = 'walk_in_test') {
  const order = await placeOrder(api, method)
  await dispatchDueOrders(w.app)
  return { order_id: order.id }
}

const siteSlots = async (api: Client) =>
  (await api.listCenterSlots({ query: { lab: 'quest', site_codes: ['QM-PHX-01'] } })).slots.flatMap(({ slots }) => slots)

async function bookVisit(api: Client, slot = 0) {
  const params = await accepted(api)
  const booking_key = (await siteSlots(api))[slot]?.booking_key as string
  await api.bookCenterVisit({ params, body: { booking_key } })
  return params
}

const complete = (api: Client, params: { order_id: string }) => api.simulateOrder({ params, query: {}, body: {} })
const messagesOf = async (api: Client, order_id: string) => (await api.listMessages({ query: { order_id } })).messages
const subjects = (mails: { headers: Record<string, string> }[]) => mails.map(({ headers }) => headers['subject'])
const wordsOfTests = /essential|wellness|iron|anemia|heart|sugar|glucose|result|blood|test|quest/i

test('a visit is booked, moved, remembered and canceled', async () => {
  const { api } = await newTeam()
  const params = await bookVisit(api)
  const [booked, ...others] = await send()
  expect(others).toEqual([])
  expect(booked).toMatchObject({
    to: people[0].email,
    headers: { from: 'Harbor Health <no-reply@harbor.example>', 'reply-to': 'help@harbor.example', subject: 'Your appointment is booked' },
  })
  expect(booked?.text).toContain('Monday, March 1, 2027 at 9:00 AM MST. Address: 15 W Example St, Phoenix, AZ 85004.')
  const later = (await siteSlots(api)).find(({ start }) => start > '2027-03-04')
  await api.rescheduleCenterVisit({ params, body: { booking_key: later?.booking_key as string } })
  expect(subjects(await send())).toEqual(['Your appointment has a new time'])
  await api.moveClock({ body: { advance_seconds: (2 * DAY + 2 * HOUR) / SECOND } })
  expect(subjects(await send())).toEqual(['Reminder: your appointment'])
  const [reason] = await api.listCenterCancellationReasons()
  await api.cancelCenterVisit({ params, body: { cancellationReasonId: reason?.id as string } })
  expect(subjects(await send())).toEqual(['Your appointment is canceled'])
  const log = await messagesOf(api, params.order_id)
  expect(log.map(({ kind, status }) => `${kind} ${status}`).sort()).toEqual([
    ...['appointment_booked sent', 'appointment_canceled sent', 'appointment_moved sent', 'appointment_reminder sent'],
  ])
  const logged = log.find(({ kind }) => kind === 'appointment_booked')
  expect(logged).toMatchObject({ to: people[0].email, tries: 1, error: null, text: expect.any(String) })
  expect(booked?.text).toContain(logged?.text.trim())
})

test('reading messages is audited with the patients', async () => {
  const { api, team_id } = await newTeam()
  const { user_id, id: order_id } = await placeOrder(api)
  await complete(api, { order_id })
  await messagesOf(api, order_id)
  const [row] = await query<{ subject: string }>(
    w.url,
    `select subject from ${auditRows} where action = 'listMessages' and chain_id = $1`,
    [team_id],
  )
  expect(row?.subject).toContain(user_id)
  await send()
})

test('a canceled visit is not remembered', async () => {
  const { api } = await newTeam()
  const params = await accepted(api)
  const later = (await siteSlots(api)).find(({ start }) => start > '2027-03-04')
  await api.bookCenterVisit({ params, body: { booking_key: later?.booking_key as string } })
  expect((await messagesOf(api, params.order_id)).map(({ status }) => status).sort()).toEqual(['planned', 'queued'])
  const [reason] = await api.listCenterCancellationReasons()
  await api.cancelCenterVisit({ params, body: { cancellationReasonId: reason?.id as string } })
  await api.moveClock({ body: { advance_seconds: (4 * DAY) / SECOND } })
  expect(subjects(await send()).sort()).toEqual(['Your appointment is booked', 'Your appointment is canceled'])
})

test('a kit and its results are announced in Spanish, without a word about the test', async () => {
  const { api } = await newTeam({ patient_language: 'es' })
  const order = await accepted(api, 'testkit')
  await complete(api, order)
  const mails = await send()
  expect(subjects(mails).sort()).toEqual(['Hay novedades en su cuenta', 'Su paquete está en camino'])
  for (const { headers, text } of mails) {
    expect(`${headers['subject']} ${text.replace(/https:\S+/g, '')}`).not.toMatch(wordsOfTests)
    expect(text).not.toContain(people[0].first_name)
  }
  expect(mails.find(({ headers }) => headers['subject']?.startsWith('Hay'))?.text).toContain('https://harbor.example')
})

test('nothing is sent for settings that say no, also if they change before the message is sent', async () => {
  const { api, admin, ...team } = await newTeam({ lab_tests_patient_email_communication_enabled: false })
  await complete(api, await accepted(api))
  expect(await api.listMessages({})).toMatchObject({ messages: [] })
  const params = await accepted(api)
  expect(await api.patchCommunicationSettings({ params, body: { sms_enabled: false, email_enabled: true, language: 'es' } })).toEqual({
    ...params,
    ...{ sms_enabled: false, email_enabled: true, language: 'es' },
  })
  await complete(api, params)
  expect(subjects(await send())).toEqual(['Hay novedades en su cuenta'])
  await admin.patchTeam({ params: team, body: { sandbox: { lab_tests_patient_email_communication_enabled: true } } })
  const other = await accepted(api)
  await complete(api, other)
  await admin.patchTeam({ params: team, body: { sandbox: { lab_tests_patient_email_communication_enabled: false } } })
  expect(await send()).toEqual([])
  expect(await messagesOf(api, other.order_id)).toMatchObject([{ status: 'canceled', error: 'turned off' }])
})

test('a patient opts out with the link of a message, and in again', async () => {
  const { api, admin, org_id } = await newTeam()
  const { user_id, id } = await placeOrder(api)
  await complete(api, { order_id: id })
  const [mail] = await send()
  expect(mail?.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
  const [, link = ''] = /<https:\/\/assay\.harbor\.example(.*)>/.exec(mail?.headers['list-unsubscribe'] ?? '') ?? []
  expect(mail?.text).toContain(`To stop these messages: https://assay.harbor.example${link}`)
  const open = await fetch(w.base + link)
  expect([open.status, await open.text()]).toEqual([200, expect.stringContaining('Stop messages')])
  const completeAnother = async () => {
    const other = await placeOrder(api, 'walk_in_test', { user_id })
    await complete(api, { order_id: other.id })
    return (await send()).length
  }
  // Opening a link changes nothing, because mail programs open links by themselves.
  expect(await completeAnother()).toBe(1)
  // Mail programs send either kind of form (RFC 8058).
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  const multipart = new FormData()
  multipart.append('List-Unsubscribe', 'One-Click')
  for (const stop of [body, multipart]) {
    expect((await fetch(w.base + link, { method: 'POST', body: stop })).status).toBe(200)
    expect(await completeAnother()).toBe(0)
    expect((await fetch(w.base + link, { method: 'POST', body: new URLSearchParams({ messages: 'resume' }) })).status).toBe(200)
  }
  expect(await completeAnother()).toBe(1)
  const forged = link.replace(/token=(.)/, (_, first) => `token=${first === 'A' ? 'B' : 'A'}`)
  const refused = await fetch(w.base + forged, { method: 'POST', body })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('not valid')])
  const audited = async (action: string) =>
    (await admin.listAudit({ params: { org_id }, query: { action, subject_id: user_id } })).entries.map(({ actor_kind, via }) => [
      actor_kind,
      via,
    ])
  expect(await audited('optOutOfMessages')).toEqual(Array(2).fill(['visitor', null]))
  expect(await audited('optInToMessages')).toEqual(Array(2).fill(['visitor', null]))
  const statuses: number[] = []
  for (let i = 0; i < 100; i++) statuses.push((await fetch(w.base + forged)).status)
  expect(new Set(statuses)).toEqual(new Set([400, 429]))
  const limited = await fetch(w.base + forged)
  expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await fetch(w.base + link)).status).toBe(200)
})

test('a message that the mail server does not take now is sent later, with the same ID', async () => {
  const { api } = await newTeam()
  const params = await accepted(api)
  mailServer.judge((address) => `451 4.7.1 ${address} try again later`)
  await complete(api, params)
  expect(await send()).toEqual([])
  expect(await messagesOf(api, params.order_id)).toMatchObject([{ status: 'queued', tries: 1, error: 'EENVELOPE 451' }])
  expect(await send()).toEqual([])
  mailServer.judge(() => undefined)
  w.advanceTime(MINUTE)
  const [mail] = await send()
  const [message] = await messagesOf(api, params.order_id)
  expect(message).toMatchObject({ status: 'sent', tries: 2, error: null })
  expect(mail?.headers['message-id']).toBe(`<${message?.id}@harbor.example>`)
})

test('a message that the mail server rejects, or never takes, has failed', async () => {
  const { api } = await newTeam()
  const [rejected, unreachable] = [await accepted(api), await accepted(api)]
  mailServer.judge((address) => `550 5.1.1 ${address} is unknown`)
  await complete(api, rejected)
  expect(await send()).toEqual([])
  expect(await messagesOf(api, rejected.order_id)).toMatchObject([{ status: 'failed', tries: 1, error: 'EENVELOPE 550' }])
  mailServer.judge(() => '421 4.3.2 Closing')
  await complete(api, unreachable)
  for (let attempt = 0; attempt < 7; attempt++) {
    await send()
    w.advanceTime(12 * HOUR)
  }
  mailServer.judge(() => undefined)
  expect(await send()).toEqual([])
  expect(await messagesOf(api, unreachable.order_id)).toMatchObject([{ status: 'failed', tries: 7 }])
})

test('the database has no readable message', async () => {
  const { api } = await newTeam()
  await complete(api, await accepted(api))
  const rows = await query<{ text: string }>(w.url, 'select to_jsonb(m)::text || encode(sealed, $1) as text from messages m', ['escape'])
  expect(rows.length).toBeGreaterThan(0)
  for (const { text } of rows) expect(text).not.toMatch(/example\.org|Harbor|account/)
  await send()
})

test('previews show every message in the name of the team', async () => {
  const { api } = await newTeam({ patient_language: 'es' })
  const { sending, previews } = await api.previewMessages({})
  expect(sending).toBe(true)
  expect(previews.map(({ kind }) => kind)).toEqual([
    ...['appointment_booked', 'appointment_moved', 'appointment_canceled', 'appointment_reminder', 'kit_shipped', 'results_ready'],
  ])
  for (const { text, language } of previews) expect([language, text]).toEqual(['es', expect.stringContaining('Harbor Health')])
  const english = await api.previewMessages({ query: { language: 'en' } })
  expect(english.previews[0]?.subject).toBe('Your appointment is booked')
})

test('a service without a mail server writes no messages', async () => {
  const { api } = await (await replica()).tenant()
  await complete(api, { order_id: (await placeOrder(api)).id })
  expect(await api.listMessages({})).toEqual({ messages: [], next_cursor: null })
  expect((await api.previewMessages({})).sending).toBe(false)
})

test('the log keeps messages for as long as events', async () => {
  const { api, team_id } = await newTeam()
  const { order_id } = await bookVisit(api)
  await api.rescheduleCenterVisit({
    params: { order_id },
    body: { booking_key: (await siteSlots(api)).find(({ start }) => start > '2027-03-10')?.booking_key as string },
  })
  await send()
  const age = (days: number) =>
    query(w.url, "update messages set created_at = $2::timestamptz - $3 * interval '1 day' where team_id = $1", [team_id, NOW, days])
  await age(89)
  await applyRetention(w.app)
  expect(await messagesOf(api, order_id)).not.toEqual([])
  await age(91)
  await applyRetention(w.app)
  expect((await messagesOf(api, order_id)).map(({ status }) => status)).toEqual(['planned'])
})
