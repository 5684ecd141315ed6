import type { Db } from '../../platform/db/open.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** `rows` are the verified rows. `broken` is the first break; verification stops there. */
export type Verification = { rows: number; unchained: number; broken?: ChainBreak }

type ChainBreak = rules.Break & { chain_id: string }

const ROWS_AT_ONCE = 1000
const CHAINS_AT_ONCE = 500

/** Verifies the deployment's chain, which lists the others, and then the chains with the given IDs or all of them. */
export async function verifyChains(db: Db, key: Buffer, chain_ids?: string[]): Promise<Verification> {
  const [deployment] = await store.listHeads(db, undefined, 1, [rules.DEPLOYMENT_CHAIN])
  const listing = deployment
    ? await verifyChain(db, key, deployment)
    : { rows: 0, broken: { chain_id: rules.DEPLOYMENT_CHAIN, ...rules.headMissing } }
  let rows = chain_ids ? 0 : listing.rows
  let broken = listing.broken
  for (let after: string | undefined = rules.DEPLOYMENT_CHAIN; after && !broken; ) {
    const heads: Head[] = await store.listHeads(db, after, CHAINS_AT_ONCE, chain_ids)
    broken = await findUnlisted(db, heads)
    for (const head of heads) {
      if (broken) break
      const verified = await verifyChain(db, key, head)
      rows += verified.rows
      broken = verified.broken
    }
    after = heads.length < CHAINS_AT_ONCE ? undefined : heads.at(-1)?.chain_id
  }
  const { count } = await store.countUnchained(db, chain_ids)
  return { rows, unchained: count, ...(broken ? { broken } : {}) }
}

type Head = Awaited<ReturnType<typeof store.listHeads>>[number]

async function verifyChain(db: Db, key: Buffer, head: Head): Promise<{ rows: number; broken: ChainBreak | undefined }> {
  const { chain_id } = head
  let at = rules.start
  while (at.seq < head.seq) {
    const rows = await store.listChained(db, chain_id, at.seq, head.seq, ROWS_AT_ONCE)
    const segment = rules.findBreak(key, at, rows)
    at = segment.at
    const broken = segment.broken ? { chain_id, ...segment.broken } : await findUnrecorded(db, rows)
    if (broken) return { rows: at.seq, broken }
  }
  const broken = rules.findBreakAtEnd(key, at, head)
  return { rows: at.seq, broken: broken && { chain_id, ...broken } }
}

/** A listed chain has a recorded end, because both are written in one transaction. */
async function findUnrecorded(db: Db, rows: { chain_id: string; id: string; action: string }[]): Promise<ChainBreak | undefined> {
  const listed = rows.filter(rules.listsChain).map(({ id }) => id)
  if (!listed.length) return undefined
  const recorded = new Set((await store.findRecorded(db, listed)).map(({ chain_id }) => chain_id))
  const chain_id = listed.find((id) => !recorded.has(id))
  return chain_id === undefined ? undefined : { chain_id, ...rules.headMissing }
}

/** A chain with a recorded end is listed in the deployment's chain. */
async function findUnlisted(db: Db, heads: Head[]): Promise<ChainBreak | undefined> {
  const ids = heads.map(({ chain_id }) => chain_id)
  const rows = await store.findRows(db, rules.DEPLOYMENT_CHAIN, ids)
  const listed = new Set(rows.filter(rules.listsChain).map(({ id }) => id))
  const chain_id = ids.find((id) => !listed.has(id))
  return chain_id === undefined ? undefined : { chain_id, seq: 1, reason: 'the deployment does not list the chain' }
}
