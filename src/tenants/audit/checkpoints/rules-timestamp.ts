import { type Der, decodeAll, encode, INTEGER, integer, nullValue, OCTET_STRING, OID, SEQUENCE, trueValue } from './rules-der.ts'

/** 2.16.840.1.101.3.4.2.1 */
const SHA256 = encode(OID, Buffer.from('608648016503040201', 'hex'))
/** 1.2.840.113549.1.9.16.1.4 */
const TST_INFO = Buffer.from('2a864886f70d0109100104', 'hex')

const imprintOf = (digest: Buffer) => encode(SEQUENCE, encode(SEQUENCE, SHA256, nullValue), encode(OCTET_STRING, digest))

/** A request of RFC 3161 for a SHA-256 digest, which asks for the certificate of the authority. */
export const timestampRequest = (digest: Buffer, nonce: Buffer) =>
  encode(SEQUENCE, integer(Buffer.of(1)), imprintOf(digest), integer(nonce), trueValue)

/** Rejects a response that does not stamp this digest. It does not check the signature of the authority; `openssl ts -verify` does. */
export function checkTimestamp(response: Buffer, digest: Buffer, nonce: Buffer) {
  const [status, token] = childrenOf(decodeAll(response)[0])
  const [code] = childrenOf(status)
  // 0 is granted, 1 granted with changes.
  if (!code || !token || code.content.length !== 1 || (code.content[0] as number) > 1) throw new Error('the authority refused the request')
  const info = childrenOf(decodeAll(tstInfoOf(token))[0])
  const imprint = childrenOf(info[2]).at(1)
  if (!imprint?.content.equals(digest)) throw new Error('the time-stamp is of other data')
  if (!info.some((value) => value.tag === INTEGER && encode(INTEGER, value.content).equals(integer(nonce))))
    throw new Error('the time-stamp answers another request')
}

/** ContentInfo → SignedData → EncapsulatedContentInfo → the octets of TSTInfo. */
function tstInfoOf(token: Der): Buffer {
  const [, content] = childrenOf(token)
  const signed = childrenOf(childrenOf(content)[0])
  const [type, octets] = childrenOf(signed[2])
  const [info] = childrenOf(octets)
  if (!type?.content.equals(TST_INFO) || info?.tag !== OCTET_STRING) throw new Error('the response has no time-stamp')
  return info.content
}

const childrenOf = (value: Der | undefined) => (value ? decodeAll(value.content) : [])
