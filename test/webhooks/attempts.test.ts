import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { placeOrder } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

/** Places an order whose first delivery fails once and is retried. */
async function deliverOnSecondAttempt() {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(503, { 'content-type': 'text/plain' }, 'come back') : faults.ok))
  const webhook = await aWebhook(tenant, { url: receiver.url })
  await tenant.admin.putWebhookHeaders({
    params: webhook.params,
    body: { headers: { 'X-Shop': 'north', 'User-Agent': 'Harbor/1', Authorization: 'Bearer very-secret' } },
  })
  const order = await placeOrder(tenant.api)
  // On a busy machine the second attempt may already have followed.
  await waitFor(async () => expect((await webhook.attempts()).length).toBeGreaterThan(0))
  w.advanceTime(10_000)
  const attempts = await waitFor(async () => {
    const attempts = await webhook.attempts()
    expect(attempts).toHaveLength(2)
    return attempts
  })
  return { ...tenant, receiver, webhook, order, attempts }
}

test('lists every attempt with its outcome, newest first', async () => {
  const { attempts, order, receiver, webhook } = await deliverOnSecondAttempt()
  const { event_id } = JSON.parse(receiver.received[0]?.body as string)
  const common = {
    event_id,
    event_type: 'labtest.order.created',
    key: `order:${order.id}`,
    sequence: 2,
    example: false,
    webhook_id: webhook.id,
  }
  expect(attempts).toEqual([
    { ...common, ...attempts[0], attempt: 2, outcome: 'delivered', status: 200, error: null, error_message: null, next_try_at: null },
    {
      ...common,
      ...attempts[1],
      attempt: 1,
      outcome: 'retried',
      status: 503,
      error: 'status',
      error_message: 'The receiver responded with a status other than 2xx.',
    },
  ])
  const [second, first] = attempts as [(typeof attempts)[0], (typeof attempts)[0]]
  expect(Date.parse(first.next_try_at as string) - Date.parse(first.at)).toBeGreaterThanOrEqual(5000)
  expect(second.at >= (first.next_try_at as string)).toBe(true)
})

test('filters attempts by outcome, event type, event and time, and returns them in pages', async () => {
  const { attempts, admin, webhook } = await deliverOnSecondAttempt()
  const [second, first] = attempts.map(({ id }) => id)
  const [{ at, event_id }] = attempts as [(typeof attempts)[0]]
  const ids = async (query: Parameters<typeof webhook.attempts>[0]) => (await webhook.attempts(query)).map(({ id }) => id)
  expect(await ids({ outcome: 'retried' })).toEqual([first])
  expect(await ids({ outcome: 'exhausted' })).toEqual([])
  expect(await ids({ event_type: 'labtest.*' })).toEqual([second, first])
  expect(await ids({ event_type: 'labtest.order.updated' })).toEqual([])
  expect(await ids({ event_id })).toEqual([second, first])
  expect(await ids({ since: at })).toEqual([second])
  expect(await ids({ until: at })).toEqual([first])
  const page = await admin.listWebhookAttempts({ params: webhook.params, query: { limit: 1 } })
  const next = await admin.listWebhookAttempts({ params: webhook.params, query: { limit: 1, next_cursor: page.next_cursor } })
  expect([page.data[0]?.id, next.data[0]?.id, next.next_cursor]).toEqual([second, first, null])
})

test('returns the request and the response of an attempt and hides sensitive headers', async () => {
  const { attempts, admin, webhook, receiver } = await deliverOnSecondAttempt()
  const { key } = await admin.getWebhookSecret({ params: webhook.params })
  const detail = await admin.getWebhookAttempt({ params: { ...webhook.params, attempt_id: attempts[1]?.id as string } })
  expect(detail).toMatchObject({
    url: receiver.url,
    response_body: 'come back',
    truncated: false,
    response_headers: { 'content-type': 'text/plain' },
    timing: { connected: expect.any(Number), answered: expect.any(Number), total: attempts[1]?.ms },
  })
  expect(detail.request_body).toBe(receiver.received[0]?.body)
  expect(detail.request_headers).toMatchObject({ 'x-shop': 'north', authorization: '(hidden)', 'user-agent': 'Harbor/1' })
  new Webhook(key).verify(detail.request_body as string, detail.request_headers)
  const headers = receiver.received[0]?.headers ?? {}
  for (const name of ['svix-signature', 'webhook-timestamp', 'webhook-sequence', 'webhook-key', 'content-type', 'user-agent'])
    expect([name, detail.request_headers[name]]).toEqual([name, headers[name]])
})

test('truncates a stored response body at 64 KiB', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.bodyOf(1_000_000))
  const webhook = await aWebhook(tenant, { url: receiver.url })
  await placeOrder(tenant.api)
  const [attempt] = await waitFor(async () => {
    const attempts = await webhook.attempts()
    expect(attempts).toHaveLength(1)
    return attempts
  })
  const detail = await tenant.admin.getWebhookAttempt({ params: { ...webhook.params, attempt_id: attempt?.id as string } })
  expect([detail.outcome, detail.truncated, detail.response_body.length]).toEqual(['delivered', true, 64 * 1024])
})

test('returns 404 for an attempt of another webhook', async () => {
  const { attempts, admin, org_id, team_id } = await deliverOnSecondAttempt()
  const other = await aWebhook({ admin, org_id, team_id } as Parameters<typeof aWebhook>[0], { url: 'https://example.com/other' })
  const attempt_id = attempts[0]?.id as string
  expect(await errorOf(admin.getWebhookAttempt({ params: { ...other.params, attempt_id } }))).toMatchObject({
    status: 404,
    detail: { error_type: 'ATTEMPT_NOT_FOUND' },
  })
  expect(await other.attempts()).toEqual([])
})

test('sends a signed example once and leaves the webhook health unchanged', async () => {
  const tenant = await w.tenant()
  const { admin, team_id } = tenant
  const receiver = await aReceiver((n) => (n === 1 ? faults.ok : faults.status(500)))
  const webhook = await aWebhook(tenant, { url: receiver.url, disabled: true, filter_types: ['endpoint.disabled'] })
  const send = (event_type: string) => admin.sendWebhookExample({ params: webhook.params, body: { event_type } })
  const attempt = await send('labtest.order.updated')
  expect(attempt).toMatchObject({ outcome: 'delivered', status: 200, example: true, sequence: 0, key: 'example', next_try_at: null })
  const [message] = receiver.received
  expect(JSON.parse(message?.body as string)).toMatchObject({ event_type: 'labtest.order.updated', team_id, event_id: attempt.event_id })
  const { key } = await admin.getWebhookSecret({ params: webhook.params })
  const detail = await admin.getWebhookAttempt({ params: { ...webhook.params, attempt_id: attempt.id } })
  expect(detail.request_body).toBe(message?.body)
  expect(message?.headers['svix-signature']).toBe(detail.request_headers['svix-signature'])
  expect(key).toMatch(/^whsec_/)

  expect(await send('daily.data.sleep.created')).toMatchObject({ outcome: 'exhausted', status: 500, error: 'status', next_try_at: null })
  expect(await webhook.get()).toMatchObject({ failures: 0, waiting: 0 })
  expect(await errorOf(send('labtest.order.lost'))).toMatchObject({ status: 404, detail: { error_type: 'EVENT_TYPE_NOT_FOUND' } })
  expect((await webhook.attempts()).map(({ example }) => example)).toEqual([true, true])
})
