const signatures: [string, string][] = [
  ['%PDF', 'application/pdf'],
  ['{\\rtf', 'application/rtf'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\x89PNG', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
]

/** The media type by the signature in the first bytes of a document. */
export const signedTypeOf = (bytes: Uint8Array) => {
  const start = String.fromCharCode(...bytes.subarray(0, 8))
  return signatures.find(([signature]) => start.startsWith(signature))?.[1]
}

export const isPdf = (bytes: Uint8Array) => signedTypeOf(bytes) === 'application/pdf'

const INSPECTED_BYTES = 64 * 1024

/** Detects the media type from the bytes, because labs often state the wrong one. HTML is plain text, so that no browser runs it. */
export function mediaTypeOf(bytes: Uint8Array): string {
  const start = bytes.subarray(0, INSPECTED_BYTES)
  const isText = !start.some((byte) => byte < 9 || (byte > 13 && byte < 32))
  return signedTypeOf(bytes) ?? (isText ? (isUtf8(start) ? 'text/plain; charset=utf-8' : 'text/plain') : 'application/octet-stream')
}

function isUtf8(bytes: Uint8Array) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
