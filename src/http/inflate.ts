import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { invalid, problem } from '../platform/problem.ts'

const gunzipped = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

/** The body as it was before it was compressed. It may grow to what the route takes, and no further. */
export async function inflate({ headers, routeOptions }: FastifyRequest, bytes: Buffer): Promise<Buffer> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw problem('UNSUPPORTED_CONTENT_ENCODING', 'Send the body as it is, or with Content-Encoding: gzip.')
  return gunzipped(bytes, { maxOutputLength: routeOptions.bodyLimit as number }).catch((error: { code?: string }) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE')
      throw problem('BODY_TOO_LARGE', 'The body is too large once decompressed. Split the request.')
    throw invalid(['body'], 'The body is not valid gzip.', 'gzip_invalid')
  })
}
