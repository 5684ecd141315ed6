import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib'

/**
 * Node keeps the output buffer of every call until the next large collection, so a full buffer for a small text would make these
 * several times as frequent. A buffer below the minimum would be part of a shared one of 8 kB.
 */
const [MIN_BUFFER, MAX_BUFFER] = [4 * 1024, 16 * 1024]

const chunkSizeFor = (bytes: Buffer) => Math.min(MAX_BUFFER, Math.max(MIN_BUFFER, bytes.length))

/** Deflates without a header. */
export const deflateRaw = (bytes: Buffer, options: ZlibOptions = {}) =>
  deflateRawSync(bytes, { ...options, chunkSize: chunkSizeFor(bytes) })

export const inflateRaw = (bytes: Buffer, options: ZlibOptions = {}) =>
  inflateRawSync(bytes, { ...options, chunkSize: chunkSizeFor(bytes) })
