import { hl7Problem } from '../codec/rules-problems.ts'

/** MLLP puts a message between a start byte and two end bytes. */
const START = 0x0b
const END = Buffer.of(0x1c, 0x0d)

export const frame = (message: Uint8Array) => Buffer.concat([Buffer.of(START), message, END])

/**
 * `push` takes the chunks of a connection and returns the messages that are complete. Bytes outside a frame are ignored, and a
 * start byte inside a frame begins the message again. A message over the limit throws.
 */
export function deframer(maxBytes: number) {
  let parts: Buffer[] | undefined
  let size = 0
  /** The first end byte, if a chunk ended with it. */
  let held = Buffer.alloc(0)

  function begin() {
    parts = []
    size = 0
  }

  function append(part: Buffer) {
    if (!parts) return
    size += part.length
    if (size > maxBytes) throw hl7Problem('tooLong', `The message has more than ${maxBytes} bytes.`)
    parts.push(part)
  }

  function push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = []
    let rest = held.length ? Buffer.concat([held, chunk]) : chunk
    held = Buffer.alloc(0)
    for (;;) {
      const end = parts ? rest.indexOf(END) : -1
      const start = parts ? rest.lastIndexOf(START, end < 0 ? undefined : end) : rest.indexOf(START)
      if (start >= 0) {
        begin()
        rest = rest.subarray(start + 1)
      } else if (end >= 0) {
        append(rest.subarray(0, end))
        messages.push(Buffer.concat(parts as Buffer[]))
        parts = undefined
        rest = rest.subarray(end + END.length)
      } else {
        if (parts && rest.at(-1) === END[0]) held = Buffer.from(rest.subarray(-1))
        append(rest.subarray(0, rest.length - held.length))
        return messages
      }
    }
  }

  /** Whether a message has begun and not ended. */
  return { push, isInside: () => parts !== undefined }
}
