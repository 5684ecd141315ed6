import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { problem } from '../../platform/problem.ts'
import { isSameBytes } from '../../platform/sealing/same-bytes.ts'

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 5 * 60

/** 30 bytes: more than the standard requires, and base64 without padding. */
export const newSecret = () => textOfSecret(randomBytes(30))

export const textOfSecret = (secret: Buffer) => PREFIX + secret.toString('base64')

/** Accepts what Svix accepts: 24 to 75 bytes in base64, with or without the prefix. Only the canonical encoding passes, because some verifiers are strict. */
export function parseSecret(text: string) {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text
  const secret = Buffer.from(encoded, 'base64')
  if (!/^[a-zA-Z0-9+/=]{32,100}$/.test(encoded) || secret.toString('base64') !== encoded)
    throw problem(
      'INVALID_WEBHOOK_SECRET',
      'secret must be whsec_ followed by 24 to 75 random bytes in base64. Leave it out to have one generated.',
    )
  return secret
}

export const signedContent = (id: string, timestamp: number, body: string | Buffer) =>
  typeof body === 'string' ? Buffer.from(`${id}.${timestamp}.${body}`) : Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])

/** One signature per valid secret, so a receiver that knows any of them can verify. */
export const signatures = (secrets: Secret[], id: string, timestamp: number, body: string | Buffer) =>
  secrets.map((secret) => `v1,${hmac(secret, signedContent(id, timestamp, body)).toString('base64')}`).join(' ')

const hmac = (secret: Secret, text: Buffer) => createHmac('sha256', secret).update(text).digest()

type Secret = Buffer | KeyObject

/** A secret ready for repeated use: Node takes several times as long to sign with raw bytes. */
export const signingKey = (secret: Buffer): KeyObject => createSecretKey(secret)

type SignedMessage = { id: string; timestamp: number; signature: string; sequence: number | string; previous?: number | null; key: string }

/** The signature headers under both prefixes, for the verifiers of Svix and Standard Webhooks, plus the headers that reveal gaps. */
export const headersOf = ({ id, timestamp, signature, sequence, previous, key }: SignedMessage): Record<string, string> => ({
  'svix-id': id,
  'svix-timestamp': String(timestamp),
  'svix-signature': signature,
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
  'webhook-sequence': String(sequence),
  ...(previous === undefined || previous === null ? {} : { 'webhook-previous': String(previous) }),
  'webhook-key': key,
})

type Verdict = 'verified' | 'headers_missing' | 'too_old' | 'too_new' | 'wrong_signature'
type Headers = Record<string, string | string[] | undefined>

/** Verifies a message as a receiver does, for the sandbox inbox and `assay listen`. Header names are lower case; `now` is ISO text. */
export function verify(secret: Secret, headers: Headers, body: string | Buffer, now: string): Verdict {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => headers[`svix-${name}`] ?? headers[`webhook-${name}`])
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/.test(timestamp))
    return 'headers_missing'
  const age = Math.floor(Date.parse(now) / 1000) - Number(timestamp)
  if (age > TOLERANCE_SECONDS) return 'too_old'
  if (age < -TOLERANCE_SECONDS) return 'too_new'
  const expected = hmac(secret, signedContent(id, Number(timestamp), body))
  return signature.split(' ').some((candidate) => isExpected(candidate, expected)) ? 'verified' : 'wrong_signature'
}

function isExpected(signature: string, expected: Buffer) {
  const [version, encoded = ''] = signature.split(',')
  return version === 'v1' && isSameBytes(Buffer.from(encoded, 'base64'), expected)
}
