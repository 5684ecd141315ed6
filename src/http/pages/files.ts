import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Bytes that do not change while the process lives. */
export type File = { type: string; bytes: Buffer; etag: string; br?: Promise<Buffer>; gz?: Promise<Buffer> }

// Weak, because the compressed forms share it.
export const fileOf = (type: string, bytes: Buffer): File => ({
  type,
  bytes,
  etag: `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
})

/** Compressed when it is first asked for, and kept; not sent to whoever has it. */
export async function sendFile(file: File, request: FastifyRequest, reply: FastifyReply) {
  reply.type(file.type).header('vary', 'accept-encoding').header('etag', file.etag)
  if (has(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
  const takes = String(request.headers['accept-encoding'] ?? '')
  if (isTaken(takes, 'br')) {
    file.br ??= brotli(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    return reply.header('content-encoding', 'br').send(await file.br)
  }
  if (isTaken(takes, 'gzip')) {
    file.gz ??= gzipped(file.bytes)
    return reply.header('content-encoding', 'gzip').send(await file.gz)
  }
  return reply.send(file.bytes)
}

/** RFC 9110 §12.5.3: what is named is taken, unless its weight is nought. */
const isTaken = (takes: string, coding: string) =>
  takes.split(',').some((one) => {
    const [name, weight = ''] = one.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !/^q=0(\.0*)?$/.test(weight)
  })

const has = (tags: string | undefined, etag: string) =>
  tags?.split(/,\s*/).some((tag) => tag.replace(/^W\//, '') === etag.slice(2)) ?? false
