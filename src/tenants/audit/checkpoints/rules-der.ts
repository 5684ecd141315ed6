/** One DER value: its tag, and its content. */
export type Der = { tag: number; content: Buffer }

export const INTEGER = 0x02
export const OCTET_STRING = 0x04
export const OID = 0x06
export const SEQUENCE = 0x30
const BOOLEAN = 0x01
const NULL = 0x05

export function encode(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthBytes(content.length), content])
}

function lengthBytes(length: number) {
  if (length < 0x80) return Buffer.of(length)
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xffffff ? 8 : length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes])
}

/** A positive number has a zero before a leading bit. */
export const integer = (bytes: Buffer) => encode(INTEGER, (bytes[0] as number) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)

export const trueValue = encode(BOOLEAN, Buffer.of(0xff))
export const nullValue = encode(NULL)

/** The values in a DER content, one after the other. */
export function decodeAll(bytes: Buffer): Der[] {
  const values: Der[] = []
  for (let at = 0; at < bytes.length; ) {
    const { value, end } = decodeAt(bytes, at)
    values.push(value)
    at = end
  }
  return values
}

function decodeAt(bytes: Buffer, at: number): { value: Der; end: number } {
  const [tag, first] = [bytes[at], bytes[at + 1]]
  if (tag === undefined || first === undefined) throw new Error('DER is cut off')
  const size = first & 0x80 ? first & 0x7f : 0
  if (first === 0x80 || size > 4) throw new Error('DER has an unsupported length')
  const start = at + 2 + size
  const length = size ? Number.parseInt(bytes.toString('hex', at + 2, start), 16) : first
  const end = start + length
  if (!(end <= bytes.length)) throw new Error('DER is cut off')
  return { value: { tag, content: bytes.subarray(start, end) }, end }
}
