import { createHash } from 'node:crypto'
import { type S3Account, signedHeaders } from '../../../platform/outbound/s3.ts'
import { sendTrusted } from '../../../platform/outbound/trusted.ts'
import { DAY, later } from '../../../platform/time.ts'

export type Bucket = S3Account & { url: string; retain_days: number }

/** Puts an object that nobody can change or delete before the retention ends. The bucket has object lock. */
export async function putObject(bucket: Bucket, name: string, body: string, at: string) {
  const url = new URL(`${bucket.url.replace(/\/+$/, '')}/${name}`)
  const headers = {
    'content-type': 'application/json',
    'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
    'x-amz-object-lock-mode': 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': later(at, bucket.retain_days * DAY),
  }
  const signed = signedHeaders(bucket, { method: 'PUT', url, headers, body }, at)
  await sendTrusted('AUDIT_CHECKPOINT_S3', url.href, { method: 'PUT', headers: signed, body })
}
