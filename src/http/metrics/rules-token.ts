import { timingSafeEqual } from 'node:crypto'
import { problem } from '../../platform/problem.ts'
import { hashSecret } from '../../tenants/keys/rules.ts'

/** Without METRICS_TOKEN, the metrics need no credential. */
export function checkMetricsToken(token: string | undefined, authorization = '') {
  if (token === undefined) return
  const [, sent = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  if (timingSafeEqual(hashSecret(sent), hashSecret(token))) return
  throw problem('INVALID_METRICS_TOKEN', 'Send the METRICS_TOKEN of the service as `Authorization: Bearer TOKEN`.')
}
