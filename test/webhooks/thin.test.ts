import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { ThinEvent } from '../../src/contract/delivery/formats.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import { finishErasures } from '../support/erasure.ts'
import { placeOrder } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { sendTicket, signedWith, thinEventIn, withKey } from '../support/tickets.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

/** A thin webhook that has received the event of a new order. */
async function aThinOrder(tenant: Tenant, body: { include_client_user_id?: boolean } = {}) {
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, format: 'thin', filter_types: ['labtest.order.created'], ...body })
  const order = await placeOrder(tenant.api)
  const [message] = await receiver.has(1)
  const thin = thinEventIn(message as { body: string })
  const { key: secret } = await tenant.admin.getWebhookSecret({ params: webhook.params })
  return { receiver, webhook, order, message: message as { body: string }, thin, secret }
}

test('a thin message has IDs and a ticket, which opens the bytes that full sends', async () => {
  const tenant = await w.tenant()
  const full = await aReceiver()
  await aWebhook(tenant, { url: full.url, filter_types: ['labtest.order.created'] })
  const { order, message, thin, secret } = await aThinOrder(tenant)
  const [whole] = await full.has(1)

  expect(Object.keys(thin)).toEqual(Object.keys(ThinEvent.omit({ client_user_id: true }).shape))
  expect(thin).toMatchObject({
    ...{ event_type: 'labtest.order.created', team_id: tenant.team_id, user_id: order.user_id, order_id: order.id },
    sequence: Number(whole?.headers['webhook-sequence']),
  })
  expect(message.body.length).toBeLessThan(700)
  const body = whole?.body as string
  expect(await sendTicket(w.base, thin.ticket, withKey(tenant))).toMatchObject({ status: 200, text: body })
  expect(await sendTicket(w.base, thin.ticket, signedWith(secret, thin, w.app.wall()))).toMatchObject({ status: 200, text: body })
})

test('a thin message has client_user_id only if the webhook asks for it', async () => {
  const tenant = await w.tenant()
  const { thin, order } = await aThinOrder(tenant, { include_client_user_id: true })
  const { client_user_id } = await tenant.api.getUser({ params: { user_id: order.user_id } })
  expect(thin.client_user_id).toBe(client_user_id)
})

test('a ticket opens nothing without a credential of its team', async () => {
  const tenant = await w.tenant()
  const other = await w.tenant()
  const { thin, secret, receiver } = await aThinOrder(tenant)
  const another = await aWebhook(tenant, { url: receiver.url })
  const { key: secretOfAnother } = await tenant.admin.getWebhookSecret({ params: another.params })
  const now = w.app.wall()
  const late = new Date(Date.parse(now) - 6 * MINUTE).toISOString()
  const forged = `${thin.ticket.slice(0, -4)}AAAA`
  const send = async (headers: Record<string, string>, ticket = thin.ticket) => {
    const { status, error_type } = await sendTicket(w.base, ticket, headers)
    return [status, error_type]
  }
  expect(await send({})).toEqual([401, 'MISSING_API_KEY'])
  expect(await send({ 'x-management-key': tenant.management_key })).toEqual([401, 'MANAGEMENT_KEY_NOT_ALLOWED'])
  expect(await send(withKey(other))).toEqual([403, 'TICKET_OF_ANOTHER_TEAM'])
  expect(await send(signedWith(secretOfAnother, thin, now))).toEqual([401, 'INVALID_TICKET_SIGNATURE'])
  expect(await send(signedWith(secret, thin, late))).toEqual([401, 'INVALID_TICKET_SIGNATURE'])
  expect(await send({ 'webhook-signature': 'v1,AAAA' })).toEqual([401, 'INVALID_TICKET_SIGNATURE'])
  expect(await send(signedWith(secret, thin, now), 'not-a-ticket')).toEqual([401, 'INVALID_TICKET_SIGNATURE'])
  expect(await send(withKey(tenant), forged)).toEqual([404, 'TICKET_NOT_FOUND'])
  expect(await send(signedWith(secret, { ...thin, ticket: forged }, now), forged)).toEqual([404, 'TICKET_NOT_FOUND'])
  expect(await send(withKey(tenant), 'not-a-ticket')).toEqual([404, 'TICKET_NOT_FOUND'])
})

test('the old secret opens tickets for 24 hours after a rotation', async () => {
  const tenant = await w.tenant()
  const { thin, secret, webhook } = await aThinOrder(tenant)
  await tenant.admin.rotateWebhookSecret({ params: webhook.params, body: {} })
  const { key: newer } = await tenant.admin.getWebhookSecret({ params: webhook.params })
  for (const key of [secret, newer])
    expect(await sendTicket(w.base, thin.ticket, signedWith(key, thin, w.app.wall()))).toMatchObject({ status: 200 })
})

test('a response that is lost can be fetched again', async () => {
  const tenant = await w.tenant()
  const { thin } = await aThinOrder(tenant)
  const { hostname, port } = new URL(w.base)
  const request = `GET /events/tickets/${thin.ticket} HTTP/1.1\r\nhost: ${hostname}\r\nx-service-api-key: ${tenant.team_api_key}\r\n\r\n`
  for (let i = 0; i < 3; i++) {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(request)
    await once(socket, 'data')
    socket.destroy()
  }
  const answers = [await sendTicket(w.base, thin.ticket, withKey(tenant)), await sendTicket(w.base, thin.ticket, withKey(tenant))]
  expect(answers[0]).toMatchObject({ status: 200 })
  expect(answers[1]).toEqual(answers[0])
})

test('every attempt, retry and replay has a new ticket for the same event', async () => {
  const tenant = await w.tenant()
  const { receiver, webhook, thin } = await aThinOrder(tenant)
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  const tickets = () => receiver.received.map((message) => thinEventIn(message).ticket)
  w.advanceTime(1000)
  await webhook.retry(thin.event_id)
  await receiver.has(2)
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  w.advanceTime(1000)
  const from = new Date(Date.parse(w.app.wall()) - HOUR).toISOString()
  await tenant.admin.replayWebhook({ params: webhook.params, body: { from } })
  await receiver.has(3)
  expect(new Set(tickets()).size).toBe(3)
  const bodies = await Promise.all(tickets().map(async (ticket) => (await sendTicket(w.base, ticket, withKey(tenant))).text))
  expect(new Set(bodies).size).toBe(1)
})

test('an attempt shows the thin message that it sent', async () => {
  const tenant = await w.tenant()
  const { webhook, message } = await aThinOrder(tenant)
  const [attempt] = await waitFor(async () => {
    const attempts = await webhook.attempts()
    expect(attempts).toHaveLength(1)
    return attempts
  })
  const params = { ...webhook.params, attempt_id: attempt?.id as string }
  expect((await tenant.admin.getWebhookAttempt({ params })).request_body).toBe(message.body)
})

test('the ticket of an example opens the example', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, format: 'thin' })
  await tenant.admin.sendWebhookExample({ params: webhook.params, body: { event_type: 'labtest.order.updated' } })
  const [message] = await receiver.has(1)
  const thin = thinEventIn(message as { body: string })
  expect(thin).toMatchObject({ event_type: 'labtest.order.updated', sequence: 0 })
  const { status, text } = await sendTicket(w.base, thin.ticket, withKey(tenant))
  expect([status, JSON.parse(text)]).toEqual([
    200,
    expect.objectContaining({ event_id: thin.event_id, created_at: thin.created_at, data: expect.any(Object) }),
  ])
})

test('a change of format applies to later events', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['user.created'], disabled: true })
  await aUser(tenant.api)
  expect(await webhook.patch({ format: 'thin' })).toMatchObject({ format: 'thin', include_client_user_id: false })
  await aUser(tenant.api)
  await webhook.patch({ format: 'full' })
  await aUser(tenant.api)
  await webhook.patch({ disabled: false })
  await receiver.has(3)
  const sent = receiver.received.toSorted((a, b) => Number(a.headers['webhook-sequence']) - Number(b.headers['webhook-sequence']))
  expect(sent.map(({ body }) => Object.keys(JSON.parse(body) as object).includes('data'))).toEqual([true, false, true])
})

test('a message that is retried keeps its format, and one that is sent again has the present one', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['user.created'] })
  await aUser(tenant.api)
  await receiver.has(1)
  await webhook.patch({ format: 'thin' })
  w.advanceTime(10_000)
  await receiver.has(2)
  const [event] = receiver.events()
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  await webhook.retry(event?.event_id as string)
  await receiver.has(3)
  expect(receiver.received.map(({ body }) => body.includes('"data"'))).toEqual([true, true, false])
})

test('a pending message stays thin after a change to full', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['user.created'], format: 'thin' })
  await aUser(tenant.api)
  await receiver.has(1)
  await webhook.patch({ format: 'full' })
  w.advanceTime(10_000)
  await receiver.has(2)
  expect(receiver.received.map(({ body }) => body.includes('"ticket"'))).toEqual([true, true])
})

test('fetches are audited with the credential, the event and the user', async () => {
  const tenant = await w.tenant()
  const { thin, secret, webhook, order } = await aThinOrder(tenant)
  await sendTicket(w.base, thin.ticket, withKey(tenant))
  await sendTicket(w.base, thin.ticket, signedWith(secret, thin, w.app.wall()))
  await sendTicket(w.base, `${thin.ticket}x`, withKey(tenant))
  const { entries } = await tenant.admin.listAudit({ params: tenant, query: { action: 'fetchEvent' } })
  const found = entries.toReversed().map(({ actor_kind, actor_id, status, subject }) => ({ actor_kind, actor_id, status, subject }))
  const subject = `user_id:${order.user_id} event_id:${thin.event_id}`
  expect(found).toEqual([
    { actor_kind: 'team_key', actor_id: expect.any(String), status: 200, subject },
    { actor_kind: 'webhook_secret', actor_id: webhook.id, status: 200, subject },
    { actor_kind: 'team_key', actor_id: expect.any(String), status: 404, subject: null },
  ])
})

test('signed fetches count toward the rate of the team', async () => {
  const tenant = await w.tenant()
  const { thin, secret } = await aThinOrder(tenant)
  const { org_id, team_id } = tenant
  await tenant.admin.patchTeam({ params: { org_id, team_id }, body: { rate_limit: { requests_per_second: 1, burst: 2 } } })
  w.stopTime()
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await sendTicket(w.base, thin.ticket, signedWith(secret, thin, w.app.wall()))).status)
  w.resumeTime()
  expect(statuses).toEqual([200, 200, 429])
})

test('a ticket opens nothing after the webhook is deleted', async () => {
  const tenant = await w.tenant()
  const { thin, secret, webhook } = await aThinOrder(tenant)
  await tenant.admin.deleteWebhook({ params: webhook.params })
  expect(await sendTicket(w.base, thin.ticket, withKey(tenant))).toMatchObject({ status: 410, error_type: 'EVENT_GONE' })
  expect(await sendTicket(w.base, thin.ticket, signedWith(secret, thin, w.app.wall()))).toMatchObject({ status: 401 })
})

test('a ticket opens nothing after its user is erased', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  await aWebhook(tenant, { url: receiver.url, format: 'thin', filter_types: ['user.created'] })
  const user_id = await aUser(tenant.api)
  await receiver.has(1)
  await tenant.api.deleteUser({ params: { user_id } })
  await tenant.api.moveClock({ body: { advance_seconds: (7 * 24 * HOUR) / 1000 } })
  await finishErasures(w)
  const thin = thinEventIn(receiver.received[0] as { body: string })
  expect(await sendTicket(w.base, thin.ticket, withKey(tenant))).toMatchObject({ status: 410, error_type: 'EVENT_GONE' })
})

test('a ticket expires after 24 hours', async () => {
  const tenant = await w.tenant()
  const { thin, secret } = await aThinOrder(tenant)
  w.advanceTime(24 * HOUR - MINUTE)
  expect(await sendTicket(w.base, thin.ticket, withKey(tenant))).toMatchObject({ status: 200 })
  w.advanceTime(MINUTE)
  expect(await sendTicket(w.base, thin.ticket, withKey(tenant))).toMatchObject({ status: 410, error_type: 'TICKET_EXPIRED' })
  expect(await sendTicket(w.base, thin.ticket, signedWith(secret, thin, w.app.wall()))).toMatchObject({ status: 410 })
})
