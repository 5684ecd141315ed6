import { appendFile } from 'node:fs/promises'
import type { Config } from '../../../platform/config.ts'
import * as rules from './rules.ts'
import { putObject } from './s3.ts'
import { requestTimestamp } from './timestamp.ts'

/** Writes a checkpoint to every configured place. If one fails, the next checkpoint has the same ends again. */
export async function writeAnchors(config: Config, checkpoint: rules.Checkpoint) {
  const { AUDIT_CHECKPOINT_FILE: file, AUDIT_CHECKPOINT_S3: bucket, AUDIT_TIMESTAMP_URL: authority } = config
  const timestamp = authority ? await requestTimestamp(authority, rules.digestOf(checkpoint)) : undefined
  const line = `${JSON.stringify({ checkpoint, ...(timestamp ? { timestamp: timestamp.toString('base64') } : {}) })}\n`
  if (bucket) await putObject(bucket, `${checkpoint.at.replaceAll(':', '-')}-${checkpoint.mac.slice(0, 16)}.jsonl`, line, checkpoint.at)
  if (file) await appendFile(file, line, { mode: 0o600, flush: true })
}
