import { byteReader, byteWriter } from './rules-bytes.ts'
import { decodeSamples, encodeSamples, type Sample } from './rules-codec.ts'
import { type IncomingSample, type MergedDay, mergeDay } from './rules-merge.ts'

/** Compressed samples of a part of a day. The pieces of a day do not overlap. */
export type Piece = { from: number; to: number; count: number; bytes: Buffer }

/** The first byte of a list of pieces. A compressed single piece never starts with it. */
const LIST_MARKER = 7
/** In a day with more pieces, some are merged into one. */
const MAX_PIECES = 8
/** Merging fewer samples takes about as long as merging this many. */
const FEW_SAMPLES = 512

/** Serializes a day for encryption. */
export function writeDay(pieces: Piece[]): Buffer {
  const writer = byteWriter(64 + pieces.reduce((sum, { bytes }) => sum + bytes.length + 32, 0))
  writer.integer(LIST_MARKER)
  writer.integer(pieces.length)
  for (const { from, to: end, count, bytes } of pieces) {
    writer.signed(from)
    for (const integer of [end - from, count, bytes.length]) writer.integer(integer)
  }
  for (const { bytes } of pieces) writer.raw(bytes)
  return writer.bytes()
}

export function readDay(bytes: Buffer): Piece[] {
  if (bytes[0] !== LIST_MARKER) return [pieceOf(decodeSamples(bytes))]
  const reader = byteReader(bytes.subarray(1))
  const heads = Array.from({ length: reader.integer() }, () => {
    const first = reader.signed()
    return { from: first, to: first + reader.integer(), count: reader.integer(), size: reader.integer() }
  })
  return heads.map(({ size, ...head }) => ({ ...head, bytes: reader.raw(size) }))
}

export function samplesIn(pieces: Piece[]): Sample[] {
  const [first, ...others] = pieces
  return first && !others.length ? decodeSamples(first.bytes) : pieces.flatMap(({ bytes }) => decodeSamples(bytes))
}

/** Builds a piece from at least one sample, sorted by key. */
export function pieceOf(samples: Sample[]): Piece {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample]
  return { from: first.at, to: last.at, count: samples.length, bytes: encodeSamples(samples) }
}

/** Merges a batch into a day like `mergeDay`, but decodes only the pieces that overlap. */
export function mergePieces(
  pieces: Piece[],
  incoming: IncomingSample[],
  received: number,
  lastWins = false,
): Omit<MergedDay, 'samples'> & { pieces: Piece[] } {
  const [first, last] = [incoming[0] as IncomingSample, incoming.at(-1) as IncomingSample]
  const before = pieces.filter(({ to }) => to < first.at)
  const after = pieces.filter(({ from }) => from > last.at)
  const overlapping = pieces.slice(before.length, pieces.length - after.length)
  const { samples, ...merged } = mergeDay(samplesIn(overlapping), incoming, received, lastWins)
  if (!merged.changed) return { ...merged, pieces }
  const next = [...before, pieceOf(samples), ...after]
  return { ...merged, pieces: next.length > MAX_PIECES ? joinCheapest(next) : next }
}

/**
 * Merges the neighbors with the fewest samples for each piece that goes away. So a large piece is written again only after a part of
 * its size was added, and appending costs about the same all day.
 */
function joinCheapest(pieces: Piece[]): Piece[] {
  let cheapest = { from: 0, to: pieces.length, cost: Number.POSITIVE_INFINITY }
  for (let from = 0; from < pieces.length; from++) {
    let samples = (pieces[from] as Piece).count
    for (let to = from + 2; to <= pieces.length; to++) {
      samples += (pieces[to - 1] as Piece).count
      const cost = Math.max(samples, FEW_SAMPLES) / (to - from - 1)
      if (cost < cheapest.cost) cheapest = { from, to, cost }
    }
  }
  const { from, to } = cheapest
  return [...pieces.slice(0, from), pieceOf(samplesIn(pieces.slice(from, to))), ...pieces.slice(to)]
}
