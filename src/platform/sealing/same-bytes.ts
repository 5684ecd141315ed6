import { timingSafeEqual } from 'node:crypto'

/** Compares secrets in constant time. */
export const isSameBytes = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

export const isSameText = (a: string, b: string) => isSameBytes(Buffer.from(a), Buffer.from(b))
