import { hashBaseOf, newKey, type SealingKey, sealingKey, uuidOf } from '../seal.ts'

/**
 * The plaintext of a wrapped key. Most keys are alone: 32 bytes. One that replaced another is a ring: the key, the base of the
 * keyed hashes, and then the ID and the bytes of each other key.
 */
const KEY = 32
const ID = 16

export const packRing = ({ bytes, others = [], hashBase }: SealingKey) =>
  hashBase ? Buffer.concat([bytes, hashBase, ...others.flatMap((other) => [other.idBytes, other.bytes])]) : bytes

export function unpackRing(id: string, plain: Buffer, owner: string): SealingKey {
  if (plain.length === KEY) return sealingKey(id, plain, owner)
  const count = (plain.length - 2 * KEY) / (ID + KEY)
  if (count < 0 || !Number.isInteger(count)) throw new Error('The key has a form that this version does not support')
  const others = Array.from({ length: count }, (_, n) => {
    const start = 2 * KEY + n * (ID + KEY)
    return sealingKey(uuidOf(plain.subarray(start, start + ID)), plain.subarray(start + ID, start + ID + KEY), owner)
  })
  return { ...sealingKey(id, plain.subarray(0, KEY), owner), others, hashBase: plain.subarray(KEY, 2 * KEY) }
}

/** Adds the next key, which does not encrypt yet. */
export const withNextKey = (key: SealingKey): SealingKey => ({
  ...key,
  hashBase: hashBaseOf(key),
  others: [...(key.others ?? []), newKey(key.owner)],
})

/** Makes the next key the current one. The one before still decrypts. */
export function withNextActive({ others = [], hashBase, ...key }: SealingKey): SealingKey {
  const next = others.at(-1)
  if (!next || !hashBase) throw new Error('There is no next key')
  return { ...next, hashBase, others: [...others.slice(0, -1), key] }
}

/** Only the current key remains. */
export const withoutOthers = (key: SealingKey): SealingKey => ({ ...key, others: [] })
