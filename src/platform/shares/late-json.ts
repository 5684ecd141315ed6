/** Pieces of a JSON text. A piece that many responses share is bytes, which are copied instead of being encoded again. */
export type JsonPieces = (string | Buffer)[]

const shapedResults = new WeakSet()

/** Marks a result that has the shape of its response, so it is not parsed again. Tests prove it for every response. */
export function shaped<T extends object>(result: T): T {
  shapedResults.add(result)
  return result
}

export const isShaped = (result: unknown) => typeof result === 'object' && result !== null && shapedResults.has(result)

const pieces = new WeakMap<object, () => JsonPieces>()

/**
 * A result whose JSON is made while its audit row commits. `named` has the fields of the result that the audit row names, and `json`
 * makes all of it.
 */
export function lateJson<R>(named: object, json: () => JsonPieces): R {
  pieces.set(shaped(named), json)
  // The type has the fields of the JSON, which lateJsonOf makes.
  return named as R
}

const piecesOf = (result: unknown) => (typeof result === 'object' && result !== null ? pieces.get(result) : undefined)

/** Undefined if the result is complete. */
export function lateJsonOf(result: unknown) {
  const json = piecesOf(result)
  return json && (() => json().map(String).join(''))
}

/** The same as bytes. */
export function lateBytesOf(result: unknown) {
  const json = piecesOf(result)
  return json && joinBytes(json())
}

function joinBytes(pieces: JsonPieces) {
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0))
  let at = 0
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)
  return bytes
}
