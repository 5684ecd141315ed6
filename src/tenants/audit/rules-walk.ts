import type { KeyObject } from 'node:crypto'
import * as rules from './rules.ts'

/** A row of a chain as the database has it. */
export type ChainedRow = rules.WrittenRow & { chain_seq: number | null; chain_hash: Buffer | null }

/** How far a chain was read. The hash is unknown after missing rows. */
export type Position = { seq: number; hash: Buffer | null }

type Step = { at: Position; reason?: rules.BreakReason }

/** Compares the next rows of a chain with its hashes. It goes on after a break, because each row also has a MAC of its own. */
export function walkRows(keys: KeyObject[], from: Position, rows: ChainedRow[]): { at: Position; breaks: rules.Break[] } {
  let at = from
  const breaks: rules.Break[] = []
  for (const row of rows) {
    const seq = row.chain_seq as number
    if (seq > at.seq + 1) {
      rules.addBreak(breaks, { seq: at.seq + 1, to: seq - 1, reason: 'missing' })
      at = { seq: seq - 1, hash: null }
    }
    const step = seq === at.seq + 1 ? readRow(keys, at, row) : ({ at, reason: 'changed' } as const)
    at = step.at
    if (step.reason) rules.addBreak(breaks, { seq, to: seq, id: row.id, reason: step.reason })
  }
  return { at, breaks }
}

function readRow(keys: KeyObject[], at: Position, row: ChainedRow): Step {
  const seq = at.seq + 1
  const stored = { seq, hash: row.chain_hash }
  const isAuthentic = rules.isAuthentic(keys, row)
  const startsSegment = isAuthentic && row.action === rules.OPEN_SEGMENT
  const hash = startsSegment ? rules.segmentStart(seq).hash : at.hash
  if (!hash) return isAuthentic ? { at: stored } : { at: stored, reason: 'changed' }
  const before = { seq: at.seq, hash }
  const matches = (link: rules.Link) => row.chain_hash?.equals(link.hash)
  if (keys.some((key) => matches(rules.nextLink(key, before, row)))) return isAuthentic ? { at: stored } : { at: stored, reason: 'changed' }
  if (keys.some((key) => matches(rules.refusedLink(key, before, row)))) return { at: stored, reason: 'refused' }
  // Of an authentic row only the hash was changed. Otherwise the next row proves the hash.
  return { at: isAuthentic ? rules.nextLink(signerOf(keys, row), before, row) : stored, reason: 'changed' }
}

/** The key that signed an authentic row. Its link was made with the same one, or with a later one if the root was rotated just then. */
const signerOf = (keys: KeyObject[], row: ChainedRow) => keys.find((key) => rules.isAuthentic([key], row)) as KeyObject

/** Compares the end of the rows with the recorded end. */
export function findBreakAtEnd(keys: KeyObject[], at: Position, head: rules.Head | undefined): rules.Break | undefined {
  if (head && head.seq === at.seq && (!at.hash || rules.trustedEnd(keys, head, at.hash))) return undefined
  return rules.findBreakAtEnd(head, at.seq)
}
