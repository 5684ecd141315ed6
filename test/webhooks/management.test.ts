import { Webhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { eventNames } from '../../src/contract/delivery/events.ts'
import { HOUR } from '../../src/platform/time.ts'
import { place } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { atEnd, refusal, world } from '../support/world.ts'

const w = await world()
await w.courier()

const tenant = async () => {
  const one = await w.tenant()
  const params = { org_id: one.org_id, team_id: one.team_id, env: 'sandbox' as const }
  return {
    ...one,
    params,
    create: (body: object = {}) => one.admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/hook', ...body } }),
  }
}

describe('a webhook', () => {
  test('is made, listed, changed and deleted', async () => {
    const { admin, params, create } = await tenant()
    const made = await create({ description: 'Ours', filter_types: ['labtest.*'], rate_limit: 5, ordering: 'strict' })
    expect(made).toMatchObject({
      description: 'Ours',
      filter_types: ['labtest.*'],
      rate_limit: 5,
      ordering: 'strict',
      disabled: false,
      waiting: 0,
    })
    const its = { params: { ...params, webhook_id: made.id } }
    expect((await admin.listWebhooks({ params })).data).toEqual([made])
    const changed = await admin.patchWebhook({ ...its, body: { rate_limit: null, filter_types: null, disabled: true, description: null } })
    expect(changed).toMatchObject({ rate_limit: null, filter_types: null, disabled: true, disabled_because: null, description: '' })
    expect(await admin.getWebhook(its)).toEqual(changed)
    await admin.deleteWebhook(its)
    expect(await refusal(admin.getWebhook(its))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } })
  })
  test('of another team is as unknown as one that never was', async () => {
    const [ours, theirs] = [await tenant(), await tenant()]
    const made = await theirs.create()
    const foreign = await refusal(ours.admin.getWebhook({ params: { ...ours.params, webhook_id: made.id } }))
    expect(foreign).toEqual(await refusal(ours.admin.getWebhook({ params: { ...ours.params, webhook_id: newUuid() } })))
  })
  test.each(['ftp://example.com/', 'http://169.254.169.254/latest', 'https://user:pass@example.com/', 'http://10.0.0.1/hook'])(
    'does not go to %s',
    async (url) => {
      const { create } = await tenant()
      expect(await refusal(create({ url }))).toMatchObject({ status: 400, detail: { error_type: 'WEBHOOK_URL_REFUSED' } })
    },
  )
  test('takes every event type there is, and beginnings of them', async () => {
    const { create } = await tenant()
    expect((await create({ filter_types: eventNames })).filter_types).toEqual(eventNames)
    const beginnings = ['*', 'lab*', 'daily.data.*', 'labtest.order.created*']
    expect((await create({ filter_types: beginnings })).filter_types).toEqual(beginnings)
  })
  test.each([
    ['labtest.ordr.created', 'Is no event type. Did you mean labtest.order.created?'],
    ['labtest.order', 'Is no event type. GET /event-types lists them all.'],
    ['labtest.ordr.*', 'No event type begins so. Did you mean labtest.order.*?'],
    ['weather*', 'No event type begins so. GET /event-types lists them all.'],
  ])('does not wait for %s, which never comes', async (typo, msg) => {
    const { admin, params, create } = await tenant()
    const filter_types = ['labtest.*', typo]
    const refused = { status: 422, detail: [{ type: 'enum', loc: ['body', 'filter_types', 1], msg }] }
    expect(await refusal(create({ filter_types }))).toMatchObject(refused)
    const { data } = await admin.listWebhooks({ params })
    expect(data).toEqual([])
    const made = await create({ filter_types: ['labtest.*'] })
    const its = { params: { ...params, webhook_id: made.id } }
    expect(await refusal(admin.patchWebhook({ ...its, body: { filter_types, disabled: true } }))).toMatchObject(refused)
    expect(await admin.getWebhook(its)).toEqual(made)
  })
  test('keeps what is sensitive about its headers to itself', async () => {
    const { admin, params, create } = await tenant()
    const its = { params: { ...params, webhook_id: (await create()).id } }
    await admin.putWebhookHeaders({
      ...its,
      body: { headers: { 'X-Tag': 'a', Authorization: 'Bearer b', 'X-Own': 'c' }, sensitive: ['x-own'] },
    })
    expect(await admin.getWebhookHeaders(its)).toEqual({ headers: { 'X-Tag': 'a' }, sensitive: ['Authorization', 'X-Own'] })
  })
  test.each([
    [{ 'svix-id': 'a' }, /a name that Assay sets itself\. Choose another/],
    [{ 'x a': 'a' }, /1 to 128 letters, digits or hyphens/],
    [{ 'X-Tag': 'ä' }, /at most 4096 visible ASCII characters/],
  ])('does not send %j along', async (headers, message) => {
    const { admin, params, create } = await tenant()
    const its = { params: { ...params, webhook_id: (await create()).id } }
    expect(await refusal(admin.putWebhookHeaders({ ...its, body: { headers } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'WEBHOOK_HEADER_REFUSED', error_message: expect.stringMatching(message) },
    })
    await admin.putWebhookHeaders({ ...its, body: { headers: { x_tag: 'a' } } })
    expect((await admin.getWebhookHeaders(its)).headers).toEqual({ x_tag: 'a' })
  })
  test('has a URL of at most 2048 characters', async () => {
    const { create } = await tenant()
    const urlOf = (length: number) => 'https://example.com/'.padEnd(length, 'a')
    expect((await create({ url: urlOf(2048) })).url).toHaveLength(2048)
    expect(await refusal(create({ url: urlOf(2049) }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'url'] }] })
  })
  test('takes a secret that is one', async () => {
    const { admin, params, create } = await tenant()
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const made = await create({ secret })
    expect(await admin.getWebhookSecret({ params: { ...params, webhook_id: made.id } })).toEqual({ key: secret })
    expect(await refusal(create({ secret: 'whsec_short' }))).toMatchObject({
      status: 400,
      detail: { error_type: 'INVALID_WEBHOOK_SECRET' },
    })
  })
})

test('both secrets sign for 24 hours after a rotation, then the new one alone', async () => {
  const { api, admin, params, create } = await tenant()
  const receiver = await openReceiver()
  atEnd(() => receiver.close())
  const made = await create({ url: receiver.url })
  const its = { params: { ...params, webhook_id: made.id } }
  const old = (await admin.getWebhookSecret(its)).key
  await admin.rotateWebhookSecret({ ...its, body: undefined })
  const fresh = (await admin.getWebhookSecret(its)).key
  expect(fresh).not.toBe(old)
  const accepts = (key: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
    try {
      new Webhook(key).verify(body, headers)
      return true
    } catch {
      return false
    }
  }
  /** The clock jumps while a lease may be held, so a message can arrive twice: the order says which one it is. */
  const deliveryOf = async (id: string) => {
    for (let count = 1; ; count++) {
      const found = (await receiver.has(count)).find(({ body }) => body.includes(id))
      if (found) return found
    }
  }
  const first = await deliveryOf((await place(api)).id)
  expect([accepts(old, first as never), accepts(fresh, first as never)]).toEqual([true, true])
  w.passes(25 * HOUR)
  const second = await deliveryOf((await place(api)).id)
  const signaturesOf = (one: unknown) => (one as { headers: Record<string, string> }).headers['svix-signature']?.split(' ')
  expect(signaturesOf(second)).toHaveLength(1)

  for (let i = 0; i < 12; i++) await admin.rotateWebhookSecret({ ...its, body: {} })
  const third = await deliveryOf((await place(api)).id)
  expect(signaturesOf(third)).toHaveLength(10)
})
