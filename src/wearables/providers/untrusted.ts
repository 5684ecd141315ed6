import { timingSafeEqual } from 'node:crypto'

/** Compares secrets in constant time. */
export function isSameText(a: string, b: string) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The JSON in a body. Undefined if it is none. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
