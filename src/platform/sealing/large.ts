import { cutIntoSlices } from '../shares/slices.ts'
import { beginCipher, beginDecipher, isUncompressed, namedKey, reseal, type SealingKey } from './seal.ts'

const PIECE_BYTES = 256 * 1024

/** Like `sealBytes`, in slices: encrypting twenty megabytes at once would hold the event loop. */
export async function sealLarge(key: SealingKey, associatedData: string, plain: Buffer): Promise<Buffer> {
  const { cipher, start } = beginCipher(key, associatedData)
  const pieces = await inPieces(plain, (piece) => cipher.update(piece))
  return Buffer.concat([start, ...pieces, cipher.final(), cipher.getAuthTag()])
}

/** Decrypts in slices what `sealBytes` or `sealLarge` encrypted. */
export async function openLarge(key: SealingKey, associatedData: string, sealed: Buffer): Promise<Buffer> {
  const { decipher, body } = beginDecipher(namedKey(key, sealed), associatedData, sealed)
  const pieces = await inPieces(body, (piece) => decipher.update(piece))
  return Buffer.concat([...pieces, decipher.final()])
}

/** Like `reseal`, in slices. Compressed documents are small. */
export async function resealLarge(key: SealingKey, associatedData: string, sealed: Buffer): Promise<Buffer | undefined> {
  if (!isUncompressed(sealed)) return reseal(key, associatedData, sealed)
  const isOld = key.others?.includes(namedKey(key, sealed))
  return isOld ? sealLarge(key, associatedData, await openLarge(key, associatedData, sealed)) : undefined
}

/** Works on large bytes piece by piece, in slices. */
export async function inPieces<T>(bytes: Buffer, work: (piece: Buffer) => T): Promise<T[]> {
  const endSlice = cutIntoSlices()
  const done: T[] = []
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    done.push(work(bytes.subarray(from, from + PIECE_BYTES)))
    await endSlice()
  }
  return done
}
