import { createHmac } from 'node:crypto'

/** Rows that belong to no team and no organization. Its rows also list the other chains. */
export const DEPLOYMENT_CHAIN = '00000000-0000-0000-0000-000000000000'

/** The action of the row in the deployment's chain that lists another chain. The row has that chain's ID. */
export const OPEN_CHAIN = 'openAuditChain'

/** Whether a row of the deployment's chain lists another chain. */
export const listsChain = ({ chain_id, action }: { chain_id: string; action: string }) =>
  chain_id === DEPLOYMENT_CHAIN && action === OPEN_CHAIN

/** Each team has a chain, each organization has one for rows without a team, and the deployment has one for the rest. */
export const chainOf = ({ team_id, org_id }: { team_id: string | null; org_id: string | null }) => team_id ?? org_id ?? DEPLOYMENT_CHAIN

/** The fields the chain protects. */
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
type ChainedRow = AuditFields & { chain_seq: number | null; chain_hash: Buffer | null }

export type Link = { seq: number; hash: Buffer }

export const start: Link = { seq: 0, hash: Buffer.alloc(32) }

/** A row's hash depends on the previous row and on a key, so access to the database alone cannot rewrite history. */
export function nextLink(key: Buffer, before: Link, row: AuditFields): Link {
  const seq = before.seq + 1
  const fields = [
    row.chain_id,
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
    row.via,
    row.reason?.toString('hex') ?? null,
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
export const endMac = (key: Buffer, chain_id: string, { seq, hash }: Link) =>
  createHmac('sha256', key).update(`end ${chain_id} ${seq} `).update(hash).digest()

export type Head = { chain_id: string; seq: number; mac: Buffer }

/** The link to extend. Undefined if the record was changed or its row is missing, because such an end cannot be trusted. */
export function trustedEnd(key: Buffer, { chain_id, seq, mac }: Head, hash: Buffer | null): Link | undefined {
  const end = seq === 0 ? start : hash && { seq, hash }
  return end && mac.equals(endMac(key, chain_id, end)) ? end : undefined
}

export const headMissing: Break = { seq: 1, reason: 'the recorded end of the chain is missing' }

/** Compares the verified end with the recorded one. A forged record fails its MAC; a rolled-back record leaves rows beyond it. */
export function findBreakAtEnd(key: Buffer, at: Link, head: Head & { last: number | null }): Break | undefined {
  if (!head.mac.equals(endMac(key, head.chain_id, at))) return { seq: head.seq, reason: 'the recorded end of the chain was changed' }
  if ((head.last ?? 0) > head.seq) return { seq: head.seq + 1, reason: 'the row lies beyond the recorded end of the chain' }
  return undefined
}
