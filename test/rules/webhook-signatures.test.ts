import { createPublicKey, verify as verifySignature } from 'node:crypto'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { headersOf, newSecret, parseSecret, signatures, textOfSecret, verify } from '../../src/delivery/webhooks/sign.ts'
import { jwkOf, newKeyPair, publicKeyOf, signEd25519 } from '../../src/delivery/webhooks/sign-ed25519.ts'
import { newWebhookSecret } from '../support/seeded.ts'

const id = 'msg_2b6f0cc9'
const body = JSON.stringify({ event_type: 'labtest.order.created', data: { note: 'Zähne, 歯, 🦷' } })
const nowSeconds = () => Math.floor(Date.now() / 1000)

const signedHeaders = (secrets: string[], { timestamp = nowSeconds(), text = body as string | Buffer } = {}) =>
  headersOf({ id, timestamp, signature: signatures(secrets.map(parseSecret), id, timestamp, text), sequence: 41, key: 'order_1' })

const only = (prefix: string, headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)))

const verifiers = [
  ['svix', SvixWebhook, 'svix-'],
  ['standardwebhooks', StandardWebhook, 'webhook-'],
] as const

describe.each(verifiers)('%s library', (_, Webhook, prefix) => {
  /** Throws what the library throws. */
  const accept = (secret: string, text: string, headers: Record<string, string>) => new Webhook(secret).verify(text, headers)

  test('accepts our signature and rejects one of another secret', () => {
    const secret = newWebhookSecret()
    expect(() => accept(secret, body, signedHeaders([secret]))).not.toThrow()
    expect(() => accept(secret, body, only(prefix, signedHeaders([secret])))).not.toThrow()
    expect(() => accept(newWebhookSecret(), body, signedHeaders([secret]))).toThrow('No matching signature')
  })

  test('accepts a signature over bytes', () => {
    const secret = newWebhookSecret()
    expect(() => accept(secret, body, signedHeaders([secret], { text: Buffer.from(body) }))).not.toThrow()
  })

  test('accepts the new and the old secret during a rotation', () => {
    const [current, old, unrelated] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
    const headers = signedHeaders([current, old])
    for (const secret of [current, old]) expect(() => accept(secret, body, headers)).not.toThrow()
    expect(() => accept(unrelated, body, headers)).toThrow('No matching signature')
  })

  test('accepts the signature next to an ed25519 signature', () => {
    const secret = newWebhookSecret()
    const timestamp = nowSeconds()
    const headers = signedHeaders([secret], { timestamp })
    const both = `${signEd25519(newKeyPair().private_key, id, timestamp, body)} ${headers['svix-signature']}`
    expect(() => accept(secret, body, { ...headers, 'svix-signature': both, 'webhook-signature': both })).not.toThrow()
  })

  test('rejects a changed body, a changed ID and a timestamp outside the tolerance', () => {
    const secret = newWebhookSecret()
    expect(() => accept(secret, `${body} `, signedHeaders([secret]))).toThrow('No matching signature')
    expect(() => accept(secret, body, { ...signedHeaders([secret]), 'svix-id': 'msg_2', 'webhook-id': 'msg_2' })).toThrow(
      'No matching signature',
    )
    expect(() => accept(secret, body, signedHeaders([secret], { timestamp: nowSeconds() - 310 }))).toThrow('too old')
    expect(() => accept(secret, body, signedHeaders([secret], { timestamp: nowSeconds() + 310 }))).toThrow('too new')
  })

  test('creates the same signature for any secret and body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 75 }), fc.string({ unit: 'grapheme' }), (bytes, text) => {
        const secret = Buffer.from(bytes)
        const at = new Date(1_700_000_000_000)
        expect(signatures([secret], id, 1_700_000_000, text)).toBe(new Webhook(textOfSecret(secret)).sign(id, at, text))
      }),
      { numRuns: 100 },
    )
  })
})

test('signs the published example identically', () => {
  const secret = parseSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const signature = signatures([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('sends svix and webhook headers with the sequence number and key', () => {
  expect(headersOf({ id, timestamp: 1_700_000_000, signature: 'v1,abc', sequence: 41, key: 'order_1' })).toEqual({
    'svix-id': id,
    'svix-timestamp': '1700000000',
    'svix-signature': 'v1,abc',
    'webhook-id': id,
    'webhook-timestamp': '1700000000',
    'webhook-signature': 'v1,abc',
    'webhook-sequence': '41',
    'webhook-key': 'order_1',
  })
})

describe('secrets', () => {
  test('a new secret is random, has the prefix and parses back', () => {
    const secrets = Array.from({ length: 100 }, newSecret)
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[a-zA-Z0-9+/]{40}$/)
    expect(new Set(secrets).size).toBe(100)
    expect(secrets.map((secret) => textOfSecret(parseSecret(secret)))).toEqual(secrets)
  })

  const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')

  test.each([
    ['24 bytes', `whsec_${base64(24)}`, 24],
    ['64 bytes', `whsec_${base64(64)}`, 64],
    ['75 bytes', `whsec_${base64(75)}`, 75],
    ['no prefix', base64(32), 32],
  ])('accepts a secret with %s', (_, text, bytes) => {
    expect(parseSecret(text).length).toBe(bytes)
  })

  test.each([
    ['an empty text', ''],
    ['the prefix alone', 'whsec_'],
    ['23 bytes', `whsec_${base64(23).replace(/=/g, '')}`],
    ['76 bytes', `whsec_${base64(76)}`],
    ['text that is not base64', `whsec_${'not base64!'.repeat(4)}`],
    ['base64 for URLs', `whsec_${'-_'.repeat(20)}`],
    ['missing padding', `whsec_${base64(32).replace(/=/g, '')}`],
    ['padding in the middle', `whsec_${base64(25)}${base64(25)}`],
    ['leftover bits', `whsec_${base64(31).replace(/.=$/, 'd=')}`],
    ['a space', ` whsec_${base64(24)}`],
    ['a line break', `whsec_${base64(24)}\n`],
    ['another prefix', `whsk_${base64(24)}`],
  ])('rejects %s', (_, text) => {
    expect(() => parseSecret(text)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ error_type: 'INVALID_WEBHOOK_SECRET' }) }),
    )
  })
})

describe('built-in verifier', () => {
  const secret = newWebhookSecret()
  const timestamp = 1_700_000_000
  const now = new Date(timestamp * 1000).toISOString()
  const headers = signedHeaders([newWebhookSecret(), secret], { timestamp })
  const without = (...names: string[]) => Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))
  const at = (seconds: number) => new Date((timestamp + seconds) * 1000).toISOString()

  test.each([
    ['a signed message', headers, body, now, 'verified'],
    ['the svix headers alone', without('webhook-id', 'webhook-timestamp', 'webhook-signature'), body, now, 'verified'],
    ['the webhook headers alone', without('svix-id', 'svix-timestamp', 'svix-signature'), body, now, 'verified'],
    ['bytes', headers, Buffer.from(body), now, 'verified'],
    ['five minutes late', headers, body, at(300), 'verified'],
    ['more than five minutes late', headers, body, at(301), 'too_old'],
    ['five minutes early', headers, body, at(-300), 'verified'],
    ['more than five minutes early', headers, body, at(-301), 'too_new'],
    ['another body', headers, `${body}x`, now, 'wrong_signature'],
    ['another ID', { ...headers, 'svix-id': 'msg_x' }, body, now, 'wrong_signature'],
    ['another time', { ...headers, 'svix-timestamp': String(timestamp + 1) }, body, now, 'wrong_signature'],
    ['no ID', without('svix-id', 'webhook-id'), body, now, 'headers_missing'],
    ['no signature', without('svix-signature', 'webhook-signature'), body, now, 'headers_missing'],
    ['an invalid timestamp', { ...headers, 'svix-timestamp': '1e9' }, body, now, 'headers_missing'],
    ['an empty signature', { ...headers, 'svix-signature': 'v1,' }, body, now, 'wrong_signature'],
    [
      'another version',
      { ...headers, 'svix-signature': headers['svix-signature']?.replaceAll('v1,', 'v2,') },
      body,
      now,
      'wrong_signature',
    ],
    ['a malformed signature', { ...headers, 'svix-signature': 'v1 , ,,v1' }, body, now, 'wrong_signature'],
  ])('%s', (_, headers, text, at, verdict) => {
    expect(verify(parseSecret(secret), headers, text, at)).toBe(verdict)
  })

  test('accepts a signature of the standardwebhooks library', () => {
    const signature = new StandardWebhook(secret).sign(id, new Date(timestamp * 1000), body)
    expect(verify(parseSecret(secret), { ...headers, 'svix-signature': signature }, body, now)).toBe('verified')
  })
})

describe('ed25519', () => {
  const pair = newKeyPair()
  const timestamp = 1_700_000_000
  const signature = signEd25519(pair.private_key, id, timestamp, body)

  test('verifies with the public key and plain OpenSSL', () => {
    const key = createPublicKey({ format: 'jwk', key: jwkOf(pair.public_key) })
    const [version, text = ''] = signature.split(',')
    expect(version).toBe('v1a')
    expect(verifySignature(null, Buffer.from(`${id}.${timestamp}.${body}`), key, Buffer.from(text, 'base64'))).toBe(true)
  })

  test('writes keys as whsk_ and whpk_, and derives the public key from the private one', () => {
    expect(pair.private_key).toMatch(/^whsk_[a-zA-Z0-9+/]{86}==$/)
    expect(pair.public_key).toMatch(/^whpk_[a-zA-Z0-9+/]{43}=$/)
    expect(publicKeyOf(pair.private_key)).toBe(pair.public_key)
  })

  test('throws for a key of the wrong kind', () => {
    expect(() => signEd25519(pair.public_key, id, timestamp, body)).toThrow('not a whsk_ key')
    expect(() => jwkOf(pair.private_key)).toThrow('not a whpk_ key')
  })
})
