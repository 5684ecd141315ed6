import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { invalid, problem } from '../platform/problem.ts'

const gunzipAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

/** Decompresses a gzip body. The result may not exceed the body limit of the endpoint. */
export async function inflate({ headers, routeOptions }: FastifyRequest, bytes: Buffer): Promise<Buffer> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw problem('UNSUPPORTED_CONTENT_ENCODING', 'Send the body uncompressed, or compressed with Content-Encoding: gzip.')
  return gunzipAsync(bytes, { maxOutputLength: routeOptions.bodyLimit as number }).catch((error: { code?: string }) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE')
      throw problem('BODY_TOO_LARGE', 'The body is too large once decompressed. Split the request.')
    throw invalid(['body'], 'The body is not valid gzip.', 'gzip_invalid')
  })
}
