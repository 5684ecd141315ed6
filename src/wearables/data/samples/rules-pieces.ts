import { byteReader, byteWriter } from './rules-bytes.ts'
import { decodeSamples, encodeSamples, type Sample } from './rules-codec.ts'
import { type Incoming, type Merged, mergeDay } from './rules-merge.ts'

/** Compressed samples of a part of a day. The pieces of a day do not overlap. */
export type Piece = { from: number; to: number; count: number; bytes: Buffer }

/** The first byte of a list of pieces. A compressed single piece never starts with it. */
const LIST = 7
/** A day with more pieces is merged into one. */
const MOST = 8

/** Serializes a day for encryption. */
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

/** Builds a piece from at least one sample, sorted by key. */
export function pieceOf(samples: Sample[]): Piece {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample]
  return { from: first.at, to: last.at, count: samples.length, bytes: encodeSamples(samples) }
}

/** Merges a batch into a day like `mergeDay`, but decodes only the pieces that overlap. */
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
