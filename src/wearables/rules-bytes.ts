/** Bytes that grow as they are written. Whole numbers up to 2^53 take as few bytes as they need. */
export function byteWriter(size = 1024) {
  let bytes = Buffer.allocUnsafe(size)
  let at = 0
  const room = (more: number) => {
    if (at + more <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, at + more))
    bytes.copy(larger, 0, 0, at)
    bytes = larger
  }
  const whole = (value: number) => {
    room(8)
    let left = value
    while (left >= 128) {
      bytes[at++] = (left % 128) + 128
      left = Math.floor(left / 128)
    }
    bytes[at++] = left
  }
  return {
    whole,
    signed: (value: number) => whole(value < 0 ? -2 * value - 1 : 2 * value),
    text(value: string) {
      const utf8 = Buffer.from(value)
      whole(utf8.length)
      this.raw(utf8)
    },
    raw(piece: Uint8Array) {
      room(piece.length)
      bytes.set(piece, at)
      at += piece.length
    },
    done: () => bytes.subarray(0, at),
  }
}

export type ByteWriter = ReturnType<typeof byteWriter>

export function byteReader(bytes: Buffer) {
  let at = 0
  const whole = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] as number
      if (byte < 128) return value + byte * scale
      value += (byte - 128) * scale
    }
  }
  return {
    whole,
    signed() {
      const value = whole()
      return value % 2 ? -(value + 1) / 2 : value / 2
    },
    text() {
      const length = whole()
      return this.raw(length).toString()
    },
    raw(length: number) {
      at += length
      return bytes.subarray(at - length, at)
    },
  }
}

export type ByteReader = ReturnType<typeof byteReader>
