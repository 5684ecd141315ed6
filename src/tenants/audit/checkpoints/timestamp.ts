import { randomBytes } from 'node:crypto'
import { sendTrusted } from '../../../platform/outbound/trusted.ts'
import { checkTimestamp, timestampRequest } from './rules-timestamp.ts'

const NONCE_BYTES = 8

/** Returns the response of a time-stamp authority (RFC 3161) for a SHA-256 digest, as `openssl ts -verify` takes it. */
export async function requestTimestamp(url: string, digest: Buffer) {
  // A nonce without a leading zero byte has one encoding.
  const nonce = Buffer.concat([Buffer.of(1), randomBytes(NONCE_BYTES)])
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' }
  const response = await sendTrusted('AUDIT_TIMESTAMP_URL', url, { method: 'POST', headers, body: timestampRequest(digest, nonce) })
  checkTimestamp(response, digest, nonce)
  return response
}
