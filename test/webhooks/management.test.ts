import { Webhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { eventNames } from '../../src/contract/events.ts'
import { HOUR } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

const setUp = async () => {
  const tenant = await w.tenant()
  const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const }
  return {
    ...tenant,
    params,
    create: (body: object = {}) => tenant.admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/hook', ...body } }),
  }
}

describe('webhooks', () => {
  test('creates, lists, updates and deletes a webhook', async () => {
    const { admin, params, create } = await setUp()
    const webhook = await create({ description: 'Ours', filter_types: ['labtest.*'], rate_limit: 5, ordering: 'strict' })
    expect(webhook).toMatchObject({
      description: 'Ours',
      filter_types: ['labtest.*'],
      rate_limit: 5,
      ordering: 'strict',
      disabled: false,
      waiting: 0,
    })
    const target = { params: { ...params, webhook_id: webhook.id } }
    expect((await admin.listWebhooks({ params })).data).toEqual([webhook])
    const changed = await admin.patchWebhook({
      ...target,
      body: { rate_limit: null, filter_types: null, disabled: true, description: null },
    })
    expect(changed).toMatchObject({ rate_limit: null, filter_types: null, disabled: true, disabled_because: null, description: '' })
    expect(await admin.getWebhook(target)).toEqual(changed)
    await admin.deleteWebhook(target)
    expect(await errorOf(admin.getWebhook(target))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } })
  })
  test('returns the same 404 for a webhook of another team as for an unknown one', async () => {
    const [ours, theirs] = [await setUp(), await setUp()]
    const webhook = await theirs.create()
    const foreign = await errorOf(ours.admin.getWebhook({ params: { ...ours.params, webhook_id: webhook.id } }))
    expect(foreign).toEqual(await errorOf(ours.admin.getWebhook({ params: { ...ours.params, webhook_id: newUuid() } })))
  })
  test.each(['ftp://example.com/', 'http://169.254.169.254/latest', 'https://user:pass@example.com/', 'http://10.0.0.1/hook'])(
    'rejects the URL %s',
    async (url) => {
      const { create } = await setUp()
      expect(await errorOf(create({ url }))).toMatchObject({ status: 400, detail: { error_type: 'WEBHOOK_URL_REFUSED' } })
    },
  )
  test('accepts every event type and prefixes of them in filter_types', async () => {
    const { create } = await setUp()
    expect((await create({ filter_types: eventNames })).filter_types).toEqual(eventNames)
    const prefixes = ['*', 'lab*', 'daily.data.*', 'labtest.order.created*']
    expect((await create({ filter_types: prefixes })).filter_types).toEqual(prefixes)
  })
  test.each([
    ['labtest.ordr.created', 'This is not an event type. Did you mean labtest.order.created?'],
    ['labtest.order', 'This is not an event type. GET /event-types lists them all.'],
    ['labtest.ordr.*', 'No event type starts with this prefix. Did you mean labtest.order.*?'],
    ['weather*', 'No event type starts with this prefix. GET /event-types lists them all.'],
  ])('rejects the unknown event type %s in filter_types', async (filter, msg) => {
    const { admin, params, create } = await setUp()
    const filter_types = ['labtest.*', filter]
    const refused = { status: 422, detail: [{ type: 'enum', loc: ['body', 'filter_types', 1], msg }] }
    expect(await errorOf(create({ filter_types }))).toMatchObject(refused)
    const { data } = await admin.listWebhooks({ params })
    expect(data).toEqual([])
    const webhook = await create({ filter_types: ['labtest.*'] })
    const target = { params: { ...params, webhook_id: webhook.id } }
    expect(await errorOf(admin.patchWebhook({ ...target, body: { filter_types, disabled: true } }))).toMatchObject(refused)
    expect(await admin.getWebhook(target)).toEqual(webhook)
  })
  test('hides the values of sensitive headers', async () => {
    const { admin, params, create } = await setUp()
    const target = { params: { ...params, webhook_id: (await create()).id } }
    await admin.putWebhookHeaders({
      ...target,
      body: { headers: { 'X-Tag': 'a', Authorization: 'Bearer b', 'X-Own': 'c' }, sensitive: ['x-own'] },
    })
    expect(await admin.getWebhookHeaders(target)).toEqual({ headers: { 'X-Tag': 'a' }, sensitive: ['Authorization', 'X-Own'] })
  })
  test.each([
    [{ 'svix-id': 'a' }, /a name that Assay sets itself\. Choose another/],
    [{ 'x a': 'a' }, /1 to 128 letters, digits or hyphens/],
    [{ 'X-Tag': 'ä' }, /at most 4096 visible ASCII characters/],
  ])('rejects the header %j', async (headers, message) => {
    const { admin, params, create } = await setUp()
    const target = { params: { ...params, webhook_id: (await create()).id } }
    expect(await errorOf(admin.putWebhookHeaders({ ...target, body: { headers } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'WEBHOOK_HEADER_REFUSED', error_message: expect.stringMatching(message) },
    })
    await admin.putWebhookHeaders({ ...target, body: { headers: { x_tag: 'a' } } })
    expect((await admin.getWebhookHeaders(target)).headers).toEqual({ x_tag: 'a' })
  })
  test('rejects a URL of more than 2048 characters', async () => {
    const { create } = await setUp()
    const urlOf = (length: number) => 'https://example.com/'.padEnd(length, 'a')
    expect((await create({ url: urlOf(2048) })).url).toHaveLength(2048)
    expect(await errorOf(create({ url: urlOf(2049) }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'url'] }] })
  })
  test('accepts a valid secret and rejects an invalid one', async () => {
    const { admin, params, create } = await setUp()
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const webhook = await create({ secret })
    expect(await admin.getWebhookSecret({ params: { ...params, webhook_id: webhook.id } })).toEqual({ key: secret })
    expect(await errorOf(create({ secret: 'whsec_short' }))).toMatchObject({
      status: 400,
      detail: { error_type: 'INVALID_WEBHOOK_SECRET' },
    })
  })
})

test('signs with both secrets for 24 hours after a rotation, then with the new one, and with at most ten', async () => {
  const { api, admin, params, create } = await setUp()
  const receiver = await openReceiver()
  atEnd(() => receiver.close())
  const webhook = await create({ url: receiver.url, filter_types: ['labtest.*'] })
  const target = { params: { ...params, webhook_id: webhook.id } }
  const old = (await admin.getWebhookSecret(target)).key
  await admin.rotateWebhookSecret({ ...target, body: undefined })
  const fresh = (await admin.getWebhookSecret(target)).key
  expect(fresh).not.toBe(old)
  const accepts = (key: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
    try {
      new Webhook(key).verify(body, headers)
      return true
    } catch {
      return false
    }
  }
  /** Advancing the clock can repeat a message, so deliveries are found by their order. */
  const deliveryOf = async (id: string) => {
    for (let count = 1; ; count++) {
      const found = (await receiver.waitForMessages(count)).find(({ body }) => body.includes(id))
      if (found) return found
    }
  }
  const first = await deliveryOf((await placeOrder(api)).id)
  expect([accepts(old, first as never), accepts(fresh, first as never)]).toEqual([true, true])
  w.advanceTime(25 * HOUR)
  const second = await deliveryOf((await placeOrder(api)).id)
  const signaturesOf = (delivery: unknown) => (delivery as { headers: Record<string, string> }).headers['svix-signature']?.split(' ')
  expect(signaturesOf(second)).toHaveLength(1)

  for (let i = 0; i < 12; i++) await admin.rotateWebhookSecret({ ...target, body: {} })
  const third = await deliveryOf((await placeOrder(api)).id)
  expect(signaturesOf(third)).toHaveLength(10)
})
