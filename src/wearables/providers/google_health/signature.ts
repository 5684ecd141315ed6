import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { ServiceAccount } from '../../../contract/wearables/oauth-setting.ts'
import { HOUR, MINUTE, SECOND } from '../../../platform/time.ts'
import { type Call, cloudError } from '../cloud.ts'
import { KeySet } from './api.ts'

export const SIGNATURE_HEADER = 'google-health-api-signature'

const KEYS_PATH = '/googlehealthapi/webhooks/webhooks_public_keyset.json'
const API_URL = 'https://health.googleapis.com'

/** A stand-in serves its keys itself. */
const keysUrl = (api_url: string) => new URL(KEYS_PATH, api_url === API_URL ? 'https://www.gstatic.com' : api_url).href

const VERSION = 1
const HEADER_BYTES = 5

type Signed = { header: string; body: Buffer }
type Place = { call: Call; api_url: string; now: string }

/** Whether Google signed the body: a version byte, the ID of the key, and an ECDSA signature in DER. */
export async function isSigned({ header, body }: Signed, place: Place) {
  const bytes = Buffer.from(header, 'base64')
  if (bytes.length <= HEADER_BYTES || bytes[0] !== VERSION) return false
  const key = await keyOf(bytes.readUInt32BE(1), place)
  if (!key) return false
  return verify('sha256', body, { key, dsaEncoding: 'der' }, bytes.subarray(HEADER_BYTES))
}

/** Google replaces its keys about monthly. */
const MAX_AGE_MS = HOUR
/** An unknown key is looked up again, but not for every request. */
const MIN_AGE_MS = MINUTE

const keySets = new Map<string, { keys: Map<number, KeyObject>; fetched_at: number }>()

async function keyOf(id: number, { call, api_url, now }: Place) {
  const url = keysUrl(api_url)
  const cached = keySets.get(url)
  const age = cached ? Math.abs(Date.parse(now) - cached.fetched_at) : Number.POSITIVE_INFINITY
  if (cached && age < (cached.keys.has(id) ? MAX_AGE_MS : MIN_AGE_MS)) return cached.keys.get(id)
  const keys = publicKeys(await call({ path: url }, KeySet))
  keySets.set(url, { keys, fetched_at: Date.parse(now) })
  return keys.get(id)
}

/** The usable keys of a key set, by ID. */
export const publicKeys = ({ key }: KeySet) =>
  new Map(
    key.flatMap(({ keyId, status, keyData }) => {
      const isUsable = status === 'ENABLED' && keyData.typeUrl?.endsWith('.EcdsaPublicKey')
      const opened = isUsable ? publicKeyOf(Buffer.from(keyData.value, 'base64')) : undefined
      return opened ? [[keyId, opened] as const] : []
    }),
  )

const X_FIELD = 3
const Y_FIELD = 4

function publicKeyOf(message: Buffer): KeyObject | undefined {
  const fields = bytesIn(message)
  const [x, y] = [coordinateOf(fields.get(X_FIELD)), coordinateOf(fields.get(Y_FIELD))]
  if (!x || !y) return undefined
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  } catch {
    // The point is not on the curve.
    return undefined
  }
}

const COORDINATE_BYTES = 32

/** A coordinate of P-256 has 32 bytes. Tink may add or leave out zeros at the start. */
function coordinateOf(bytes: Buffer | undefined) {
  if (!bytes) return undefined
  const padded = Buffer.concat([Buffer.alloc(COORDINATE_BYTES), bytes])
  const isTooLong = padded.subarray(0, padded.length - COORDINATE_BYTES).some((byte) => byte !== 0)
  return isTooLong ? undefined : padded.subarray(-COORDINATE_BYTES).toString('base64url')
}

/** The fields with bytes of a message in the wire format of Protocol Buffers. */
function bytesIn(message: Buffer) {
  const fields = new Map<number, Buffer>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; shift < 35 && at < message.length; shift += 7) {
      const byte = message[at++] as number
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < message.length) {
    const tag = varint()
    if ((tag & 7) === 0) varint()
    else if ((tag & 7) === 2) {
      const length = varint()
      fields.set(tag >>> 3, message.subarray(at, at + length))
      at += length
    } else break
  }
  return fields
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

/** A token that the service account signs itself, so that it needs no request. */
export function serviceToken({ client_email, private_key, private_key_id }: ServiceAccount, now: string) {
  const iat = Math.floor(Date.parse(now) / SECOND)
  const header = { alg: 'RS256', typ: 'JWT', ...(private_key_id ? { kid: private_key_id } : {}) }
  const claims = { iss: client_email, sub: client_email, scope: SCOPE, iat, exp: iat + HOUR / SECOND }
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), openPrivateKey(private_key)).toString('base64url')}`
}

function openPrivateKey(pem: string) {
  try {
    return createPrivateKey(pem)
  } catch {
    throw cloudError('refused', 'the private key of the service account is not valid')
  }
}
