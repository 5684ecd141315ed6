import { createHmac, type KeyObject } from 'node:crypto'

/** Rows that belong to no team and no organization. Its rows also list the other chains. */
export const DEPLOYMENT_CHAIN = '00000000-0000-0000-0000-000000000000'

/** The rows of the deployment's chain that list the other chains. Each has the ID of its chain. */
export const listing = { chain_id: DEPLOYMENT_CHAIN, action: 'openAuditChain' }

/** The action of the first row of a segment. Its subject records the break before it. */
export const OPEN_SEGMENT = 'openAuditSegment'

/** Each team has a chain, each organization has one for rows without a team, and the deployment has one for the rest. */
export const chainOf = ({ team_id, org_id }: { team_id: string | null; org_id: string | null }) => team_id ?? org_id ?? DEPLOYMENT_CHAIN

/** The fields that a row's MAC and the chain protect. */
export type AuditFields = {
  chain_id: string
  id: string
  at: string
  org_id: string | null
  team_id: string | null
  actor_kind: string
  actor_id: string | null
  action: string
  subject: string | null
  status: number
  request_id: string | null
  via: string | null
  reason: Buffer | null
}

/**
 * The keys by version of the root. `current` signs. `live` are those that may have signed something that is not in a chain yet, and
 * the ends of chains. Rows that are in a chain may have been signed with any: the end proves that they did not change since.
 */
export type AuditKeys = { current: KeyObject; live: KeyObject[]; all: KeyObject[] }

/** A row that Assay did not write may have no MAC. */
export type WrittenRow = AuditFields & { mac: Buffer | null }

const fieldsAfterSeq = (row: AuditFields) => [
  ...[row.id, row.at, row.org_id, row.team_id, row.actor_kind, row.actor_id, row.action, textOf(row.subject), row.status],
  ...[textOf(row.request_id), row.via, row.reason?.toString('hex') ?? null],
]

/** A text as the database returns it: without surrogates that belong to no pair. */
const textOf = (text: string | null) => text?.toWellFormed() ?? null

/** Proves that Assay wrote the row, before it is in the chain. The database never sees the key. */
export const rowMac = (key: KeyObject, row: AuditFields) =>
  createHmac('sha256', key)
    .update('row ')
    .update(JSON.stringify([row.chain_id, ...fieldsAfterSeq(row)]))
    .digest()

export const isAuthentic = (keys: KeyObject[], row: WrittenRow) => keys.some((key) => row.mac?.equals(rowMac(key, row)))

export type Link = { seq: number; hash: Buffer }

/** A segment starts here too: its first row follows no hash. */
const START_HASH = Buffer.alloc(32)

export const start: Link = { seq: 0, hash: START_HASH }

/** A row's hash depends on the previous row and on a key, so access to the database alone cannot rewrite history. */
export function nextLink(key: KeyObject, before: Link, row: AuditFields): Link {
  const seq = before.seq + 1
  const fields = JSON.stringify([row.chain_id, seq, ...fieldsAfterSeq(row)])
  return { seq, hash: createHmac('sha256', key).update(before.hash).update(fields).digest() }
}

/** The link of a row that Assay did not write. It records the place and the ID of the row, and nothing of its content. */
export function refusedLink(key: KeyObject, before: Link, { chain_id, id }: AuditFields): Link {
  const seq = before.seq + 1
  return { seq, hash: createHmac('sha256', key).update('refused ').update(before.hash).update(`${chain_id} ${seq} ${id}`).digest() }
}

/** The position before the first row of a segment. */
export const segmentStart = (seq: number): Link => ({ seq: seq - 1, hash: START_HASH })

/** Proves that the chain ended here. Access to the database alone cannot forge it. */
export const endMac = (key: KeyObject, chain_id: string, { seq, hash }: Link) =>
  createHmac('sha256', key).update(`end ${chain_id} ${seq} `).update(hash).digest()

export type Head = { chain_id: string; seq: number; mac: Buffer }

/** The end that was recorded, if the record was not changed and its row is there. */
export function trustedEnd(keys: KeyObject[], { chain_id, seq, mac }: Head, hash: Buffer | null): Link | undefined {
  const link = seq === 0 ? start : hash && { seq, hash }
  return link && keys.some((key) => mac.equals(endMac(key, chain_id, link))) ? link : undefined
}

/** A part of a chain that cannot be trusted: rows that are missing, changed or not Assay's. */
export type Break = { seq: number; to: number; id?: string; reason: BreakReason }

export const reasons = {
  missing: 'the row is missing',
  changed: 'the row was changed',
  refused: 'the row was not written by Assay',
  end_missing: 'the recorded end of the chain is missing',
  end_changed: 'the recorded end of the chain was changed',
  beyond_end: 'rows lie beyond the recorded end of the chain',
  unlisted: 'the deployment does not list the chain',
  rewritten: 'the chain does not contain a row that was verified or in a checkpoint',
} as const
export type BreakReason = keyof typeof reasons

/** Where a new segment begins. The positions that it skips stand for the rows that were lost. */
export const nextSegmentSeq = (headSeq: number, last: number) => Math.max(headSeq, last + 1) + 1

/** Why a chain cannot be extended. `last` is the position of its last row. */
export function findBreakAtEnd(head: { seq: number } | undefined, last: number): Break {
  const seq = last + 1
  if (!head) return { seq, to: seq, reason: 'end_missing' }
  if (head.seq > last) return { seq, to: head.seq, reason: 'missing' }
  return { seq, to: seq, reason: head.seq < last ? 'beyond_end' : 'end_changed' }
}

/** The break as the subject of the first row of a segment. */
export const describeBreak = ({ seq, to, reason }: Break) => `seq:${seq} to:${to} reason:${reason}`

/** Adds a break to those of a chain. Consecutive rows with the same fault are one break. */
export function addBreak(breaks: Break[], found: Break) {
  const last = breaks.at(-1)
  if (last?.reason === found.reason && last.to >= found.seq - 1) last.to = found.to
  else breaks.push(found)
}

type Range = Pick<Break, 'seq' | 'to'>

/** Whether ranges, taken together, include all of one. */
export function isCovered({ seq, to }: Range, ranges: Range[]) {
  let next = seq
  for (const range of ranges.toSorted((a, b) => a.seq - b.seq)) if (range.seq <= next) next = Math.max(next, range.to + 1)
  return next > to
}

/** Proves that an operator acknowledged the break. */
export const acknowledgementMac = (
  key: KeyObject,
  { chain_id, seq, to_seq }: { chain_id: string; seq: number; to_seq: number },
  by: string,
) =>
  createHmac('sha256', key)
    .update(`acknowledged ${chain_id} ${seq} ${to_seq} ${JSON.stringify(by)}`)
    .digest()

/** Proves how far a chain was verified, and which breaks were known by then. */
export const verifiedMac = (key: KeyObject, chain_id: string, { seq, hash }: Link, breaks: Range[]) => {
  const known = breaks.filter(({ to }) => to <= seq).map((found) => `${found.seq}-${found.to}`)
  return createHmac('sha256', key).update(`verified ${chain_id} ${seq} ${known.sort().join()} `).update(hash).digest()
}
