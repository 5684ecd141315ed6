import { byteReader, byteWriter } from './rules-bytes.ts'
import { decodeSamples, encodeSamples, type Sample } from './rules-codec.ts'
import { type Incoming, type Merged, mergeDay } from './rules-merge.ts'

/** Samples of a stretch of a day, compressed. The pieces of a day follow each other and share no moment. */
export type Piece = { from: number; to: number; count: number; bytes: Buffer }

/** No compressed samples begin so, which tells days apart that are one piece without a list of them. */
const LIST = 7
/** A day that comes in piece by piece is put together again whenever it has more of them. */
const MOST = 8

/** A day as it is sealed. */
export function writeDay(pieces: Piece[]): Buffer {
  const to = byteWriter(64 + pieces.reduce((sum, { bytes }) => sum + bytes.length + 32, 0))
  to.whole(LIST)
  to.whole(pieces.length)
  for (const { from, to: end, count, bytes } of pieces) {
    to.signed(from)
    for (const whole of [end - from, count, bytes.length]) to.whole(whole)
  }
  for (const { bytes } of pieces) to.raw(bytes)
  return to.done()
}

export function readDay(bytes: Buffer): Piece[] {
  if (bytes[0] !== LIST) return [pieceOf(decodeSamples(bytes))]
  const from = byteReader(bytes.subarray(1))
  const heads = Array.from({ length: from.whole() }, () => {
    const first = from.signed()
    return { from: first, to: first + from.whole(), count: from.whole(), size: from.whole() }
  })
  return heads.map(({ size, ...head }) => ({ ...head, bytes: from.raw(size) }))
}

export const samplesIn = (pieces: Piece[]): Sample[] => pieces.flatMap(({ bytes }) => decodeSamples(bytes))

/** Samples in their order, of which there is at least one. */
export function pieceOf(samples: Sample[]): Piece {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample]
  return { from: first.at, to: last.at, count: samples.length, bytes: encodeSamples(samples) }
}

/** Lays a batch over a day, as `mergeDay` does; only the pieces that it touches are read and written. */
export function mergePieces(pieces: Piece[], incoming: Incoming[], received: number): Omit<Merged, 'samples'> & { pieces: Piece[] } {
  const [first, last] = [incoming[0] as Incoming, incoming.at(-1) as Incoming]
  const before = pieces.filter(({ to }) => to < first.at)
  const after = pieces.filter(({ from }) => from > last.at)
  const touched = pieces.slice(before.length, pieces.length - after.length)
  const { samples, ...merged } = mergeDay(samplesIn(touched), incoming, received)
  if (!merged.changed) return { ...merged, pieces }
  const laid = [...before, pieceOf(samples), ...after]
  return { ...merged, pieces: laid.length > MOST ? [pieceOf(samplesIn(laid))] : laid }
}
