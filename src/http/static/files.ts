import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/** A file that does not change while the process runs. */
export type File = { type: string; bytes: Buffer; etag: string; br?: Promise<Buffer>; gz?: Promise<Buffer> }

// The ETag is weak because the compressed forms share it.
export const createFile = (type: string, bytes: Buffer): File => ({
  type,
  bytes,
  etag: `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
})

/** Sends a file, compressed on first use and cached, or 304 if the client has it. */
export async function sendFile(file: File, request: FastifyRequest, reply: FastifyReply) {
  reply.type(file.type).header('vary', 'accept-encoding').header('etag', file.etag)
  if (includesEtag(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
  const acceptEncoding = String(request.headers['accept-encoding'] ?? '')
  if (accepts(acceptEncoding, 'br')) {
    file.br ??= brotliAsync(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
    return reply.header('content-encoding', 'br').send(await file.br)
  }
  if (accepts(acceptEncoding, 'gzip')) {
    file.gz ??= gzipAsync(file.bytes)
    return reply.header('content-encoding', 'gzip').send(await file.gz)
  }
  return reply.send(file.bytes)
}

/** RFC 9110 §12.5.3: a listed coding is acceptable unless its weight is zero. */
const accepts = (acceptEncoding: string, coding: string) =>
  acceptEncoding.split(',').some((entry) => {
    const [name, weight = ''] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !/^q=0(\.0*)?$/.test(weight)
  })

const includesEtag = (tags: string | undefined, etag: string) =>
  tags?.split(/,\s*/).some((tag) => tag.replace(/^W\//, '') === etag.slice(2)) ?? false
