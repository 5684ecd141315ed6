import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { ErasureCertificate } from '../../contract/operations/erasure.ts'

/** What the erasure of one user destroyed, as the database keeps it. */
export const ErasureRecord = z.object({
  team_id: z.uuid(),
  user_id: z.uuid(),
  created_at: z.string(),
  requested_at: z.string(),
  erased_at: z.string(),
  /** The IDs of the user's keys, and a hash of the wrapped key, by which a copy of it can be recognized. */
  key_ids: z.array(z.uuid()),
  wrapped_sha256: z.string(),
  /** The epoch that wrapped the key. Null if the team's key did. */
  epoch_id: z.uuid().nullable(),
  /** Deleted rows by table. */
  deleted: z.record(z.string(), z.int()),
  /** Lab orders that stay without personal data. */
  anonymized_orders: z.int(),
})
export type ErasureRecord = z.output<typeof ErasureRecord>
export type Certificate = z.output<typeof ErasureCertificate>

/** An Ed25519 key that signs certificates. The ID is the thumbprint of RFC 7638. */
export type SigningKey = { kid: string; private: KeyObject; jwk: Jwk }
type Jwk = { kty: 'OKP'; crv: 'Ed25519'; x: string; kid: string; use: 'sig'; alg: 'EdDSA' }

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export function signingKeyFrom(seed: Buffer): SigningKey {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
  return { kid, private: secret, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } }
}

const TYPE = 'assay-erasure+jws'

/** A compact JWS (RFC 7515) of the certificate. */
export function signCertificate({ kid, private: key }: SigningKey, certificate: Certificate) {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: 'EdDSA', typ: TYPE, kid })}.${encode(certificate)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

const Header = z.object({ alg: z.literal('EdDSA'), typ: z.literal(TYPE), kid: z.string() })
const PublicKey = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() })
export type PublicKey = z.output<typeof PublicKey>
const KeySet = z.object({ keys: z.array(PublicKey) })

/** The keys of a file as `/.well-known/jwks.json` returns it. */
export const readKeySet = (text: string) => KeySet.safeParse(parse(text)).data?.keys

/** A response of the API, or its JWS alone. */
const File = z.union([
  z.object({ jws: z.string(), certificate: z.unknown() }),
  z.string().transform((jws) => ({ jws, certificate: undefined })),
])

export type Verdict = { certificate: Certificate; kid: string } | { reason: string }

/** Verifies a certificate with public keys. The readable part must say the same as the signed one. */
export function verifyCertificate(keys: PublicKey[], text: string): Verdict {
  const file = File.safeParse(parse(text) ?? text.trim()).data
  const [head = '', payload = '', signature = '', ...rest] = file?.jws.split('.') ?? []
  const header = Header.safeParse(decode(head)).data
  if (!file || !header || rest.length) return { reason: 'the file is not an erasure certificate' }
  const key = keys.find(({ kid }) => kid === header.kid)
  if (!key) return { reason: `none of the public keys has the ID ${header.kid}` }
  const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' })
  const isSigned = verify(null, Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))
  const certificate = ErasureCertificate.safeParse(decode(payload)).data
  if (!isSigned || !certificate) return { reason: 'the signature does not match: the certificate was changed or forged' }
  if (file.certificate !== undefined && sorted(file.certificate) !== sorted(decode(payload)))
    return { reason: 'the readable part differs from the signed one: it was changed' }
  return { certificate, kid: header.kid }
}

/** JSON with the fields in one order, because a tool may have written the file again. */
const sorted = (value: unknown) =>
  JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

const decode = (part: string) => parse(Buffer.from(part, 'base64url').toString())

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
