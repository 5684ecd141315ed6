import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { SealingKey } from './seal.ts'

const CHUNK = 64 * 1024
const TAG = 16
const LENGTH = 4

/** The key of one stream. A salt is used once, so the positions of chunks can be their nonces. */
export const streamKey = (key: SealingKey, purpose: string, salt: Buffer) =>
  createSecretKey(Buffer.from(hkdfSync('sha256', key.secret, salt, purpose, 32)))

/** Twelve bytes: whether the chunk is the last one, and its position. So no chunk can be moved, repeated or left out. */
function nonceOf(position: number, isLast: boolean) {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt8(isLast ? 1 : 0, 0)
  nonce.writeBigUInt64BE(BigInt(position), 4)
  return nonce
}

/** Encrypts a stream with AES-256-GCM in chunks, each with its length in front. */
export async function* encryptStream(key: KeyObject, associatedData: Buffer, source: AsyncIterable<Buffer>) {
  const seal = (plain: Buffer, position: number, isLast: boolean) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(position, isLast))
    cipher.setAAD(associatedData)
    const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    const length = Buffer.alloc(LENGTH)
    length.writeUInt32BE(body.length)
    return Buffer.concat([length, body])
  }
  let rest = Buffer.alloc(0)
  let position = 0
  for await (const piece of source) {
    rest = Buffer.concat([rest, piece])
    for (; rest.length > CHUNK; rest = rest.subarray(CHUNK)) yield seal(rest.subarray(0, CHUNK), position++, false)
  }
  yield seal(rest, position, true)
}

/** Thrown for a stream that was not encrypted with this key, or was changed since. */
export const changedStream = () => new Error('The stream was changed', { cause: 'changed' })
/** Thrown for a stream without its end. */
export const truncatedStream = () => new Error('The stream was cut off', { cause: 'cut off' })

/** Decrypts a stream. It yields no byte that was not authenticated. */
export async function* decryptStream(key: KeyObject, associatedData: Buffer, source: AsyncIterable<Buffer>) {
  const reader = bytesOf(source)
  for (let position = 0; ; position++) {
    const length = await reader.take(LENGTH)
    if (length.length < LENGTH) throw truncatedStream()
    const size = length.readUInt32BE()
    if (size < TAG || size > CHUNK + TAG) throw changedStream()
    const body = await reader.take(size)
    if (body.length < size) throw truncatedStream()
    const isLast = await reader.isAtEnd()
    const plain = open(key, associatedData, body, nonceOf(position, false)) ?? open(key, associatedData, body, nonceOf(position, true))
    if (!plain) throw changedStream()
    if (isLast !== plain.isLast) throw isLast ? truncatedStream() : changedStream()
    yield plain.bytes
    if (isLast) return
  }
}

function open(key: KeyObject, associatedData: Buffer, body: Buffer, nonce: Buffer) {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(associatedData)
  decipher.setAuthTag(body.subarray(-TAG))
  try {
    return { bytes: Buffer.concat([decipher.update(body.subarray(0, -TAG)), decipher.final()]), isLast: nonce[0] === 1 }
  } catch {
    return undefined
  }
}

/** Reads a stream in pieces of any size. A piece is shorter only at the end. */
export function bytesOf(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]()
  let buffered = Buffer.alloc(0)
  let isDone = false
  const more = async () => {
    const next = await iterator.next()
    if (next.done) isDone = true
    else buffered = Buffer.concat([buffered, next.value])
  }
  return {
    async take(size: number) {
      while (buffered.length < size && !isDone) await more()
      const piece = buffered.subarray(0, size)
      buffered = buffered.subarray(size)
      return piece
    },
    /** The text before the next line break, or undefined if it is longer than the limit or has no end. */
    async line(limit: number) {
      for (;;) {
        const end = buffered.indexOf(0x0a)
        if (end >= 0) {
          const text = buffered.subarray(0, end)
          buffered = buffered.subarray(end + 1)
          return text
        }
        if (isDone || buffered.length > limit) return undefined
        await more()
      }
    },
    async isAtEnd() {
      while (!buffered.length && !isDone) await more()
      return isDone && !buffered.length
    },
    async *rest() {
      if (buffered.length) yield buffered
      buffered = Buffer.alloc(0)
      for (;;) {
        const next = await iterator.next()
        if (next.done) return
        yield next.value
      }
    },
  }
}
