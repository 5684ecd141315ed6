const QUOTE = 0x22
const BACKSLASH = 0x5c

export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/**
 * Finds the brackets, commas and colons of JSON text outside its strings, piece by piece. `onToken` gets each with its position
 * in the whole text. Text that is not JSON is not detected here.
 */
export function jsonTokens(onToken: (byte: number, position: number) => void, onString: () => void = () => {}) {
  let before = 0
  let inString = false
  let isEscaped = false
  return (bytes: Buffer) => {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) {
        inString = true
        onString()
      } else if (
        byte === COMMA ||
        byte === COLON ||
        byte === OPEN_LIST ||
        byte === CLOSE_LIST ||
        byte === OPEN_OBJECT ||
        byte === CLOSE_OBJECT
      )
        onToken(byte, before + i)
    }
    before += bytes.length
  }
}
