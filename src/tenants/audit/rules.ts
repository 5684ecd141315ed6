import { createHmac } from 'node:crypto'

/** The fields the chain protects. */
export type AuditFields = {
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
  via?: string | null
  reason?: Buffer | null
}
type ChainedRow = AuditFields & { chain_seq: number | null; chain_hash: Buffer | null }

export type Link = { seq: number; hash: Buffer }

export const start: Link = { seq: 0, hash: Buffer.alloc(32) }

/** A row's hash depends on the previous row and on a key, so access to the database alone cannot rewrite history. */
export function nextLink(key: Buffer, before: Link, row: AuditFields): Link {
  const seq = before.seq + 1
  const fields = [
    seq,
    row.id,
    row.at,
    row.org_id,
    row.team_id,
    row.actor_kind,
    row.actor_id,
    row.action,
    row.subject,
    row.status,
    row.request_id,
    // API rows omit both fields, which keeps the hash of rows written before the console existed.
    ...(row.via ? [row.via, row.reason?.toString('hex') ?? null] : []),
  ]
  return { seq, hash: createHmac('sha256', key).update(before.hash).update(JSON.stringify(fields)).digest() }
}

export type Break = { seq: number; id?: string; reason: string }

/** Finds the first row that does not match the chain. `rows` are the next rows; an empty list means the end was cut off. */
export function findBreak(key: Buffer, before: Link, rows: ChainedRow[]): { at: Link; broken?: Break } {
  let at = before
  if (!rows.length) return { at, broken: { seq: at.seq + 1, reason: 'the row is missing' } }
  for (const row of rows) {
    const expected = nextLink(key, at, row)
    if (row.chain_seq !== expected.seq)
      return { at, broken: { seq: expected.seq, reason: `the row is missing; the next one is ${row.id}` } }
    if (!row.chain_hash?.equals(expected.hash)) return { at, broken: { seq: expected.seq, id: row.id, reason: 'the row was changed' } }
    at = expected
  }
  return { at }
}

/** Proves that the chain ended here. Access to the database alone cannot forge it. */
export const endMac = (key: Buffer, { seq, hash }: Link) => createHmac('sha256', key).update(`end ${seq} `).update(hash).digest()

type End = { seq: number; mac: Buffer; last: number | null }

/** Compares the verified end with the recorded one. A forged record fails its MAC; a rolled-back record leaves rows beyond it. */
export function findBreakAtEnd(key: Buffer, at: Link, end: End | undefined): Break | undefined {
  if (!end) return { seq: at.seq + 1, reason: 'the recorded end of the chain is missing' }
  if (!end.mac.equals(endMac(key, at))) return { seq: end.seq, reason: 'the recorded end of the chain was changed' }
  if ((end.last ?? 0) > end.seq) return { seq: end.seq + 1, reason: 'the row lies beyond the recorded end of the chain' }
  return undefined
}
