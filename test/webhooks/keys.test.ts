import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, test } from 'vitest'
import { endpointsOf, sealSecrets } from '../../src/delivery/webhooks/endpoints.ts'
import { HOUR } from '../../src/platform/time.ts'
import { moduleOf } from '../docs/support/modules.ts'
import { placeOrder } from '../support/orders.ts'
import { newUuid, newWebhookSecret } from '../support/seeded.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

/** The verifier that docs/webhooks.md shows to customers. */
const { hasValidPublicKeySignature } = await moduleOf('docs/webhooks.md', 'hasValidPublicKeySignature')

type Jwks = { keys: { kid: string }[] }

/** Creates a webhook with a receiver and a reader of its public keys. */
async function setUp(body: object) {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, ...body })
  const { admin } = tenant
  const jwks = async () => {
    const response = await fetch(`${w.base}/webhooks/${webhook.id}/jwks.json`)
    return { status: response.status, ...((await response.json()) as Jwks) }
  }
  return {
    ...webhook,
    admin,
    jwks,
    secret: async () => (await admin.getWebhookSecret({ params: webhook.params })).key,
    rotate: () => admin.rotateWebhookKey({ params: webhook.params }),
    /** Places an order and returns the message it causes. */
    async next() {
      const before = receiver.received.length
      await placeOrder(tenant.api)
      const { headers, body } = (await receiver.has(before + 1))[before] as (typeof receiver.received)[number]
      return { headers: headers as Record<string, string>, body }
    },
  }
}

const versions = ({ headers }: { headers: Record<string, string> }) =>
  headers['webhook-signature']?.split(' ').map((signature) => signature.split(',')[0])

test('verifies a message with the published key and rejects a changed message or another key', async () => {
  const { get, jwks, next } = await setUp({ asymmetric: true })
  const message = await next()
  const { keys } = await jwks()
  const { public_key } = await get()
  expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: public_key, use: 'sig', alg: 'EdDSA' }])
  expect(public_key).toMatch(/^whpk_[a-zA-Z0-9+/]{43}=$/)
  expect(versions(message)).toEqual(['v1', 'v1a'])
  expect(message.headers['svix-signature']).toBe(message.headers['webhook-signature'])
  expect(hasValidPublicKeySignature(keys, message.headers, message.body)).toBe(true)
  expect(hasValidPublicKeySignature(keys, message.headers, `${message.body} `)).toBe(false)
  expect(hasValidPublicKeySignature(keys, { ...message.headers, 'webhook-id': newUuid() }, message.body)).toBe(false)
  const { keys: otherKeys } = await (await setUp({ asymmetric: true })).jwks()
  expect(hasValidPublicKeySignature(otherKeys, message.headers, message.body)).toBe(false)
})

test('keeps the Svix and Standard Webhooks verifiers working with the secret', async () => {
  const { secret, next, rotate } = await setUp({ asymmetric: true })
  await rotate()
  const { headers, body } = await next()
  for (const Webhook of [SvixWebhook, StandardWebhook]) {
    const verifier = new Webhook(await secret())
    expect(() => verifier.verify(body, headers)).not.toThrow()
    expect(() => verifier.verify(`${body} `, headers)).toThrow('No matching signature')
  }
})

test('publishes and signs with both keys for 24 hours after a rotation, then with the new key only', async () => {
  const { get, jwks, next, rotate, admin, params } = await setUp({ asymmetric: true })
  const [old] = (await jwks()).keys as [{ kid: string }]
  await rotate()
  const during = await jwks()
  expect(during.keys.map(({ kid }) => kid)).toEqual([(await get()).public_key, old.kid])
  expect((await get()).public_key).not.toBe(old.kid)
  const message = await next()
  expect(versions(message)).toEqual(['v1', 'v1a', 'v1a'])
  for (const key of during.keys) expect(hasValidPublicKeySignature([key], message.headers, message.body)).toBe(true)
  await admin.rotateWebhookSecret({ params, body: {} })
  expect(await jwks()).toEqual(during)

  w.advanceTime(25 * HOUR)
  expect((await jwks()).keys).toEqual(during.keys.slice(0, 1))
  expect(versions(await next())).toEqual(['v1', 'v1a'])
})

test('a webhook that is being delivered to signs with a new secret, and sends new headers, from the next message on', async () => {
  const { next, admin, params } = await setUp({})
  expect(versions(await next())).toEqual(['v1'])
  await admin.rotateWebhookSecret({ params, body: {} })
  expect(versions(await next())).toEqual(['v1', 'v1'])
  await admin.putWebhookHeaders({ params, body: { headers: { 'x-harbor': 'north' } } })
  expect((await next()).headers['x-harbor']).toBe('north')
})

test('turns asymmetric signing on and off, with a new key each time it is turned on', async () => {
  const { get, patch, jwks, next, rotate } = await setUp({})
  const notFound = { status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } }
  expect((await get()).public_key).toBe(null)
  expect(await jwks()).toMatchObject(notFound)
  expect(await errorOf(rotate())).toMatchObject({ status: 400, detail: { error_type: 'WEBHOOK_NOT_ASYMMETRIC' } })
  expect(versions(await next())).toEqual(['v1'])

  const { public_key } = await patch({ asymmetric: true })
  expect((await patch({ asymmetric: true, description: 'Same key' })).public_key).toBe(public_key)
  expect((await patch({ description: 'Still' })).public_key).toBe(public_key)
  expect(versions(await next())).toEqual(['v1', 'v1a'])

  expect((await patch({ asymmetric: false })).public_key).toBe(null)
  expect(await jwks()).toMatchObject(notFound)
  expect(versions(await next())).toEqual(['v1'])
  expect((await patch({ asymmetric: true })).public_key).not.toBe(public_key)
})

test('publishes keys only for existing webhooks', async () => {
  const { admin, params, jwks } = await setUp({ asymmetric: true })
  await admin.deleteWebhook({ params })
  expect((await jwks()).status).toBe(404)
  for (const [id, status] of [
    [newUuid(), 404],
    ['nonsense', 422],
  ])
    expect((await fetch(`${w.base}/webhooks/${id}/jwks.json`)).status).toBe(status)
})

test('never returns a private key', async () => {
  const { get, admin, params, jwks } = await setUp({ asymmetric: true })
  const responses = [await get(), await jwks(), (await admin.listWebhooks({ params })).data, await admin.getWebhookSecret({ params })]
  expect(JSON.stringify(responses)).not.toMatch(/whsk_|"d":/)
})

test('loads more webhooks than the cache holds and leaves out an unknown one', async () => {
  const { app } = w
  const { team_id } = await w.tenant()
  const secrets = { keys: [{ key: newWebhookSecret(), until: null }], headers: {}, sensitive: [], url: 'http://127.0.0.1:8099' }
  const at = app.wall()
  const rows = await Promise.all(
    Array.from({ length: 2001 }, async () => {
      const id = newUuid()
      const sealed = await sealSecrets(app, { id, team_id }, secrets)
      return { id, team_id, description: '', ordering: 'per_key' as const, sealed, created_at: at, updated_at: at }
    }),
  )
  for (const batch of [rows.slice(0, 1000), rows.slice(1000)]) await app.db.insertInto('webhooks').values(batch).execute()
  const webhooks = rows.map(({ id }) => ({ webhook_id: id, revision: 1 }))
  await endpointsOf(app, team_id, webhooks.slice(1))
  const found = await endpointsOf(app, team_id, [...webhooks, { webhook_id: newUuid(), revision: 1 }])
  expect([...found.keys()].sort()).toEqual(rows.map(({ id }) => id).sort())
})
