/** The maximum size of an encoded integer, in bytes. */
const MAX_INTEGER_BYTES = 8

/** Writes integers up to 2^53 in as few bytes as possible, and raw bytes. */
export function byteWriter(size: number) {
  let bytes = Buffer.allocUnsafe(size)
  let at = 0
  const reserve = (more: number) => {
    if (at + more <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, at + more))
    bytes.copy(larger, 0, 0, at)
    bytes = larger
  }
  const put = (value: number) => {
    let left = value
    while (left > 127) {
      bytes[at++] = (left % 128) | 128
      left = Math.floor(left / 128)
    }
    bytes[at++] = left
  }
  const raw = (piece: Uint8Array) => {
    reserve(piece.length)
    bytes.set(piece, at)
    at += piece.length
  }
  const integer = (value: number) => {
    reserve(MAX_INTEGER_BYTES)
    put(value)
  }
  return {
    integer,
    raw,
    signed: (value: number) => integer(value < 0 ? -2 * value - 1 : 2 * value),
    /** Writes integers as differences. */
    steps(values: number[]) {
      reserve(values.length * MAX_INTEGER_BYTES)
      let before = 0
      for (const value of values) {
        const step = value - before
        put(step < 0 ? -2 * step - 1 : 2 * step)
        before = value
      }
    },
    text(value: string) {
      const utf8 = Buffer.from(value)
      integer(utf8.length)
      raw(utf8)
    },
    bytes: () => bytes.subarray(0, at),
  }
}

export type ByteWriter = ReturnType<typeof byteWriter>

export function byteReader(bytes: Buffer) {
  let at = 0
  const integer = () => {
    let byte = bytes[at++] as number
    if (byte < 128) return byte
    let value = byte - 128
    let scale = 128
    for (;;) {
      byte = bytes[at++] as number
      if (byte < 128) return value + byte * scale
      value += (byte - 128) * scale
      scale *= 128
    }
  }
  const signed = () => {
    const value = integer()
    return value % 2 ? -(value + 1) / 2 : value / 2
  }
  const raw = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  return {
    integer,
    signed,
    raw,
    steps(count: number): number[] {
      const values = new Array<number>(count)
      let before = 0
      for (let i = 0; i < count; i++) {
        before += signed()
        values[i] = before
      }
      return values
    },
    text: () => raw(integer()).toString(),
  }
}

export type ByteReader = ReturnType<typeof byteReader>
