import { hl7Problem } from './rules-problems.ts'

/** The character sets of MSH-18 that Assay reads and writes. */
export const charsets = ['ASCII', '8859/1', 'UNICODE UTF-8'] as const
export type Charset = (typeof charsets)[number]

/** Other names in use for the same sets. */
const aliases: Record<string, Charset> = {
  'US-ASCII': 'ASCII',
  'ISO-8859-1': '8859/1',
  'ISO8859-1': '8859/1',
  'UTF-8': 'UNICODE UTF-8',
  UTF8: 'UNICODE UTF-8',
}

/** Decodes the bytes of a message. `fallback` is the set of the lab, for a message without MSH-18. */
export function decodeBytes(bytes: Uint8Array, fallback: Charset = 'ASCII'): { text: string; charset: Charset } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const declared = declaredCharset(buffer)
  const charset = declared ? charsetOf(declared) : fallback
  if (charset === 'ASCII') return decodeAscii(buffer)
  return { text: charset === '8859/1' ? buffer.toString('latin1') : decodeUtf8(buffer), charset }
}

function charsetOf(declared: string): Charset {
  const name = declared.trim().toUpperCase()
  const known = charsets.find((charset) => charset === name) ?? aliases[name]
  if (!known) throw hl7Problem('tableValue', `MSH-18 must be one of ${charsets.join(', ')}.`)
  return known
}

/** MSH-18, or its first repetition. The header is ASCII in all three sets. */
function declaredCharset(buffer: Buffer) {
  const start = Math.max(0, buffer.indexOf('MSH'))
  const header = buffer.toString('latin1', start, start + MAX_HEADER_BYTES).split(/[\r\n]/, 1)[0] ?? ''
  const [separator = '|', , repetition = '~'] = header.slice(3)
  return header.split(separator, 18)[17]?.split(repetition, 1)[0] ?? ''
}

const MAX_HEADER_BYTES = 4096

/** Labs send accents in messages that declare ASCII or nothing. Such text is UTF-8 if it is valid UTF-8, and else 8859/1. */
function decodeAscii(buffer: Buffer): { text: string; charset: Charset } {
  const text = buffer.toString('utf8')
  if (text.includes('\ufffd')) return { text: buffer.toString('latin1'), charset: '8859/1' }
  return { text, charset: text.length === buffer.length ? 'ASCII' : 'UNICODE UTF-8' }
}

function decodeUtf8(buffer: Buffer) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer)
  } catch {
    throw hl7Problem('dataType', 'MSH-18 declares UTF-8, and the bytes are not valid UTF-8.')
  }
}

/** Encodes a message. A character that the set lacks becomes a question mark. */
export function encodeText(text: string, charset: Charset): Buffer {
  if (charset === 'UNICODE UTF-8') return Buffer.from(text, 'utf8')
  const highest = charset === 'ASCII' ? 0x7f : 0xff
  const fitting = Array.from(text, (character) => ((character.codePointAt(0) as number) > highest ? '?' : character)).join('')
  return Buffer.from(fitting, 'latin1')
}
