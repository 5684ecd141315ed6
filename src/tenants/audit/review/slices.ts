import type { Db } from '../../../platform/db/open.ts'
import type { AuditKeys } from '../rules.ts'
import { findHashes, listHeads } from '../store-verify.ts'
import { readChain, recordNewBreaks } from '../verify.ts'
import * as store from './store.ts'

/** A chain and the position up to which it was read again. */
export type DueChain = { chain_id: string; seq: number }

export type Review = { due: DueChain[]; at: string }

const ROWS_OF_A_CHAIN = 2000
const ROWS_OF_A_SLICE = 5000
/** A chain with few rows costs statements too. */
const ROWS_PER_STATEMENT = 10

/**
 * Reads the next rows of chains again, whether or not they were verified before, and records breaks. A slice begins at the hash
 * that the last row before it has now: if that was changed, the next row does not follow it.
 */
export async function reviewChains(db: Db, keys: AuditKeys, { due, at }: Review) {
  const ids = due.map(({ chain_id }) => chain_id)
  const heads = new Map((await listHeads(db, undefined, ids.length, ids)).map((head) => [head.chain_id, head]))
  let left = ROWS_OF_A_SLICE
  for (const { chain_id, seq } of due) {
    const head = heads.get(chain_id)
    if (!head || left <= 0) continue
    const from = seq ? { seq, hash: (await findHashes(db, chain_id, [seq]))[0]?.chain_hash ?? null } : undefined
    const { position, breaks, read, isAtEnd } = await readChain({ db, keys }, head, from, Math.min(left, ROWS_OF_A_CHAIN))
    const found = breaks.map((one) => ({ chain_id, ...one }))
    await recordNewBreaks(db, found, at)
    await store.putReviews(db, [{ chain_id, seq: isAtEnd ? 0 : position.seq, reviewed_at: at }])
    left -= read + ROWS_PER_STATEMENT
  }
}
