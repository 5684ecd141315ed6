import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { signedContent } from './sign.ts'

const PRIVATE = 'whsk_'
const PUBLIC = 'whpk_'

/** `whsk_` is the seed and the public key in base64, in Svix's format. `whpk_` is the public key alone. */
export function newKeyPair() {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  return { private_key: PRIVATE + Buffer.concat([seed, point]).toString('base64'), public_key: PUBLIC + point.toString('base64') }
}

export function signEd25519(private_key: string, id: string, timestamp: number, body: string | Buffer) {
  return `v1a,${sign(null, signedContent(id, timestamp, body), privateKeyOf(private_key)).toString('base64')}`
}

export const publicKeyOf = (private_key: string) => PUBLIC + bytesAfter(PRIVATE, private_key, 64).subarray(32).toString('base64')

/** The public key as a JWK. */
export const jwkOf = (public_key: string) => jwk(bytesAfter(PUBLIC, public_key, 32))

function privateKeyOf(text: string) {
  const bytes = bytesAfter(PRIVATE, text, 64)
  return createPrivateKey({ format: 'jwk', key: { ...jwk(bytes.subarray(32)), d: bytes.subarray(0, 32).toString('base64url') } })
}

const jwk = (point: Buffer) => ({ kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }) as const

function bytesAfter(prefix: string, text: string, length: number) {
  const bytes = Buffer.from(text.slice(prefix.length), 'base64')
  if (!text.startsWith(prefix) || bytes.length !== length) throw new Error(`The text is not a ${prefix} key`)
  return bytes
}
