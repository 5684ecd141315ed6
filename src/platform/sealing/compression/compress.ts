import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { deflateRaw, inflateRaw } from '../deflate.ts'
import { dictionary } from './dictionary.ts'

/** Formats of a ciphertext whose plaintext is compressed, by its first byte. */
const DEFLATED = 2
const ZSTANDARD = 3

/** Deflate makes short texts a fifth smaller than Zstandard. From this size, Zstandard is smaller and several times as fast. */
const ZSTANDARD_FROM = 16 * 1024
/** Slower levels save a few percent at most. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 }

/**
 * Every call reserves memory for its window and tables, outside the heap, and much of it makes Node collect garbage more often.
 * These take 48 kB instead of 256, and a third of the time. The window has room for the dictionary and a short text.
 */
const SMALL = { windowBits: 13, memLevel: 5 }

/** Twice the size of the largest document, the attempt of an example: a body of 1 MB, escaped inside JSON. */
const MAX_BYTES = 4 * 1024 * 1024

export const isCompressed = (format: number | undefined) => format === DEFLATED || format === ZSTANDARD

const KNOWN_BYTES = 256
const dictionaryAndKnown = Buffer.concat([dictionary, Buffer.alloc(KNOWN_BYTES)])

/** Every call copies its dictionary and keeps the buffer as long as its output, so calls share one. */
function dictionaryWith(known: string) {
  if (Buffer.byteLength(known) > KNOWN_BYTES) return Buffer.concat([dictionary, Buffer.from(known)])
  return dictionaryAndKnown.subarray(0, dictionary.length + dictionaryAndKnown.write(known, dictionary.length))
}

/** `known` is text of the document that readers know too, such as the ID of its user. */
const optionsOf = (known: string) => ({ dictionary: dictionaryWith(known), maxOutputLength: MAX_BYTES })

export const compress = (plain: Buffer, known: string) =>
  plain.length < ZSTANDARD_FROM
    ? { format: DEFLATED, bytes: deflateRaw(plain, { ...optionsOf(known), ...SMALL }) }
    : { format: ZSTANDARD, bytes: zstdCompressSync(plain, { ...optionsOf(known), params }) }

/** The limit also ends the decompression of a text that only looks small. */
export const decompress = (format: number, bytes: Buffer, known: string) =>
  format === DEFLATED ? inflateRaw(bytes, optionsOf(known)) : zstdDecompressSync(bytes, optionsOf(known))
