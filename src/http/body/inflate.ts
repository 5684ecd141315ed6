import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { problem } from '../../platform/problem.ts'

/** The body without its compression, as it arrives. */
export function inflated(headers: IncomingHttpHeaders, sent: Readable): Readable {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') return sent
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw problem('UNSUPPORTED_CONTENT_ENCODING', 'Send the body uncompressed, or compressed with Content-Encoding: gzip.')
  const gunzip = createGunzip()
  sent.once('error', (error) => gunzip.destroy(error))
  return sent.pipe(gunzip)
}
