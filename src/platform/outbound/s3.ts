import { createHash, createHmac } from 'node:crypto'

/** Credentials of S3-compatible storage. Temporary ones have a session token. */
export type S3Account = { region: string; access_key_id: string; secret_access_key: string; session_token?: string | undefined }

type S3Request = { method: string; url: URL; headers?: Record<string, string>; body?: string | Buffer }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Percent-encodes as RFC 3986 and the signature require it, which is more than encodeURIComponent does. */
export const encodeS3 = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (url: URL) =>
  [...url.searchParams]
    .map(([name, value]) => `${encodeS3(name)}=${encodeS3(value)}`)
    .sort()
    .join('&')

/** The headers of a request with its AWS Signature Version 4. The path is signed as it is, so it must be percent-encoded. */
export function signedHeaders(account: S3Account, { method, url, headers = {}, body = '' }: S3Request, at: string) {
  const time = at.replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const token = account.session_token === undefined ? {} : { 'x-amz-security-token': account.session_token }
  const sent: Record<string, string> = { ...headers, ...token, 'x-amz-date': time, 'x-amz-content-sha256': sha256(body) }
  const all: Record<string, string> = { ...sent, host: url.host }
  const names = Object.keys(all).sort()
  const lines = names.map((name) => `${name}:${all[name]}\n`).join('')
  const request = [method, url.pathname, canonicalQuery(url), lines, names.join(';'), sent['x-amz-content-sha256']].join('\n')
  const scope = `${day}/${account.region}/s3/aws4_request`
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${account.secret_access_key}`, day), account.region))
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${account.access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...sent, authorization }
}
