import { createHash, createHmac } from 'node:crypto'
import { sendTrusted } from '../../../platform/outbound/trusted.ts'
import { DAY, later } from '../../../platform/time.ts'

export type Bucket = { url: string; region: string; access_key_id: string; secret_access_key: string; retain_days: number }

/** Puts an object that nobody can change or delete before the retention ends. The bucket has object lock. */
export async function putObject(bucket: Bucket, name: string, body: string, at: string) {
  const url = new URL(`${bucket.url.replace(/\/+$/, '')}/${name}`)
  const headers = {
    'content-type': 'application/json',
    'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
    'x-amz-object-lock-mode': 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': later(at, bucket.retain_days * DAY),
  }
  await sendTrusted('AUDIT_CHECKPOINT_S3', url.href, { method: 'PUT', headers: signedHeaders(bucket, url, headers, body, at), body })
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** AWS Signature Version 4 of a PUT request. */
export function signedHeaders(bucket: Bucket, url: URL, headers: Record<string, string>, body: string, at: string) {
  const time = at.replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const all: Record<string, string> = { ...headers, host: url.host, 'x-amz-date': time, 'x-amz-content-sha256': sha256(body) }
  const names = Object.keys(all).sort()
  const lines = names.map((name) => `${name}:${all[name]}\n`).join('')
  const request = ['PUT', url.pathname, '', lines, names.join(';'), all['x-amz-content-sha256']].join('\n')
  const scope = `${day}/${bucket.region}/s3/aws4_request`
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${bucket.secret_access_key}`, day), bucket.region))
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')).toString('hex')
  const { host: _, ...sent } = all
  const authorization = `AWS4-HMAC-SHA256 Credential=${bucket.access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...sent, authorization }
}
