import type { Db } from '../../platform/db/open.ts'
import { later, MINUTE } from '../../platform/time.ts'
import * as rules from './rules.ts'
import * as walk from './rules-walk.ts'
import { type BreakRow, insertBreaks, listBreaks, updateBreak } from './store-breaks.ts'
import { findLast } from './store-chain.ts'
import * as store from './store-verify.ts'

type ChainBreak = rules.Break & { chain_id: string }

/** A break as people read it. */
export type ReportedBreak = Omit<ChainBreak, 'reason'> & { reason: string }

/**
 * `rows` are the rows that are verified, `read` those that this run read, `unchained` those that were written more than a minute ago
 * and are not in a chain. `breaks` are those that nobody acknowledged, the first of them also as `broken`.
 */
export type Verification = {
  rows: number
  read: number
  unchained: number
  acknowledged?: number
  broken?: ReportedBreak
  breaks?: ReportedBreak[]
}

export type VerifyOptions = {
  /** The time of the verification. */
  at: string
  /** Only these chains, and the deployment's, which lists them. */
  chain_ids?: string[] | undefined
  /** Reads every row, also those that were verified before. */
  full?: boolean | undefined
  /** Remembers how far the chains are verified, and records breaks. */
  remembers?: boolean
}

type Run = { db: Db; keys: rules.AuditKeys } & VerifyOptions

/** Small pages, so that others do not wait for one. */
const ROWS_AT_ONCE = 500
const CHAINS_AT_ONCE = 500
const MAX_REPORTED = 100

/** Verifies the deployment's chain, which lists the others, and then the chains with the given IDs or all of them. */
export async function verifyChains(db: Db, keys: rules.AuditKeys, options: VerifyOptions): Promise<Verification> {
  const run = { db, keys, ...options }
  const { chain_ids, at } = options
  const deployment = await verifyPage(run, await store.listHeads(db, undefined, 1, [rules.DEPLOYMENT_CHAIN]))
  const total = { rows: chain_ids ? 0 : deployment.rows, read: deployment.read }
  const isRecorded = (await store.findRecorded(db, [rules.DEPLOYMENT_CHAIN])).length > 0
  const found = [...deployment.found, ...(isRecorded ? [] : await findDeletedEnds(run, [rules.DEPLOYMENT_CHAIN]))]
  for (let after: string | undefined = rules.DEPLOYMENT_CHAIN; after; ) {
    const heads: Head[] = await store.listHeads(db, after, CHAINS_AT_ONCE, chain_ids)
    const page = await verifyPage(run, heads)
    total.rows += page.rows
    total.read += page.read
    found.push(...(await findUnlisted(db, heads)), ...page.found)
    after = heads.length < CHAINS_AT_ONCE ? undefined : heads.at(-1)?.chain_id
  }
  found.push(...(await findUnrecorded(run)))
  await record(run, found)
  const { count } = await store.countUnlinked(db, later(at, -MINUTE), chain_ids)
  const recorded = await listBreaks(db, scopeOf(options))
  await reopen(run, recorded)
  return { ...total, unchained: count, ...summarize(keys, recorded, found) }
}

/** The alert of a break returns if nobody acknowledged it, whatever its row says. */
async function reopen({ db, keys, remembers }: Run, recorded: BreakRow[]) {
  if (!remembers) return
  for (const row of recorded)
    if (row.acknowledged_at && !isAcknowledged(keys, row)) await updateBreak(db, row, { acknowledged_at: null, alerted_at: null })
}

/** Whether the acknowledgement is one that Assay signed. */
export const isAcknowledged = ({ live }: rules.AuditKeys, row: BreakRow) =>
  live.some((key) => row.mac?.equals(rules.acknowledgementMac(key, row, row.acknowledged_by ?? '')))

const scopeOf = ({ chain_ids }: VerifyOptions) => chain_ids && [rules.DEPLOYMENT_CHAIN, ...chain_ids]

type Head = Awaited<ReturnType<typeof store.listHeads>>[number]

async function verifyPage(run: Run, heads: Head[]) {
  const ids = heads.map(({ chain_id }) => chain_id)
  const known = Map.groupBy(ids.length ? await listBreaks(run.db, ids) : [], ({ chain_id }) => chain_id)
  const total = { rows: 0, read: 0, found: [] as ChainBreak[] }
  for (const head of heads) {
    const { rows, read, found } = await verifyChain(run, head, known.get(head.chain_id) ?? [])
    total.rows += rows
    total.read += read
    total.found.push(...found)
  }
  return total
}

/** Reads the rows of a chain that were not verified before. */
async function verifyChain(run: Run, head: Head, known: BreakRow[]) {
  const { chain_id } = head
  const verified = findVerified(run.keys, head, known)
  const isContained = !verified?.seq || head.current_hash?.equals(verified.hash)
  const from = run.full || !isContained ? undefined : verified
  const { position: at, inside, breaks: all, read } = await readChain(run, head, from)
  if (verified && !isContained) {
    const lost: rules.Break = { seq: verified.seq, to: verified.seq, reason: 'rewritten' }
    if (!rules.isCovered(lost, all)) all.push(lost)
  }
  const found = all.map((found) => ({ chain_id, ...found }))
  const isNew = at.seq !== from?.seq || all.length > 0
  // The record of a verification is evidence until an operator acknowledges that the chain does not contain it.
  if (run.remembers && at.hash && isNew && isContained) await remember(run, chain_id, { seq: at.seq, hash: at.hash }, all)
  const lost = [...known.map(rangeOf), ...inside].filter(({ to }) => to <= at.seq)
  return { rows: at.seq - countCovered(lost), read, found }
}

/**
 * Compares the rows of a chain after a position with its hashes, up to its end or for a number of rows. `breaks` are those
 * `inside` and the one at the end.
 */
export async function readChain({ db, keys }: Pick<Run, 'db' | 'keys'>, head: Head, from?: walk.Position, most = Number.POSITIVE_INFINITY) {
  let position: walk.Position = from ?? rules.start
  let cursor = from ? { after: from.seq, after_id: LAST_ID } : BEFORE_ALL
  const inside: rules.Break[] = []
  let read = 0
  let isAtEnd = false
  while (!isAtEnd && read < most) {
    const limit = Math.min(ROWS_AT_ONCE, most - read)
    const rows = await store.listChained(db, head.chain_id, cursor, Math.max(head.seq, head.last ?? 0), limit)
    const page = walk.walkRows(keys.all, position, rows)
    position = page.at
    read += rows.length
    for (const found of page.breaks) rules.addBreak(inside, found)
    const last = rows.at(-1)
    if (last) cursor = { after: last.chain_seq as number, after_id: last.id }
    isAtEnd = rows.length < limit
  }
  const atEnd = isAtEnd ? walk.findBreakAtEnd(keys.live, position, head) : undefined
  return { position, read, isAtEnd, inside, breaks: [...inside, ...(atEnd ? [atEnd] : [])] }
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** A chain has no rows before the first, unless somebody inserted them. */
const BEFORE_ALL = { after: Number.MIN_SAFE_INTEGER, after_id: LAST_ID }

/** The position up to which a chain was verified. A record that was changed, or whose breaks were deleted, does not count. */
function findVerified(
  { live }: rules.AuditKeys,
  { chain_id, verified_seq: seq, verified_hash: hash, verified_mac: mac }: Head,
  known: BreakRow[],
) {
  if (seq === null || !hash) return undefined
  const isOurs = live.some((key) => mac?.equals(rules.verifiedMac(key, chain_id, { seq, hash }, known.map(rangeOf))))
  return isOurs ? { seq, hash } : undefined
}

const rangeOf = ({ seq, to_seq: to }: Pick<BreakRow, 'seq' | 'to_seq'>) => ({ seq, to })

async function remember(run: Run, chain_id: string, at: rules.Link, breaks: rules.Break[]) {
  await record(
    run,
    breaks.map((found) => ({ chain_id, ...found })),
  )
  const known = (await listBreaks(run.db, [chain_id])).map(rangeOf)
  await store.putVerified(run.db, { chain_id, ...at, mac: rules.verifiedMac(run.keys.current, chain_id, at, known) })
}

async function record({ db, at, remembers }: Run, found: ChainBreak[]) {
  if (remembers) await recordNewBreaks(db, found, at)
}

/** Records breaks that no recorded one includes. */
export async function recordNewBreaks(db: Db, found: ChainBreak[], found_at: string) {
  if (!found.length) return
  const known = Map.groupBy(await listBreaks(db, [...new Set(found.map(({ chain_id }) => chain_id))]), ({ chain_id }) => chain_id)
  const isNew = (one: ChainBreak) => !rules.isCovered(one, (known.get(one.chain_id) ?? []).map(rangeOf))
  const rows = found.filter(isNew).map(({ to, id, ...one }) => ({ ...one, to_seq: to, row_id: id ?? null, found_at }))
  if (rows.length) await insertBreaks(db, rows)
}

/** The number of positions that ranges include, each counted once. */
function countCovered(ranges: { seq: number; to: number }[]) {
  let next = 1
  let count = 0
  for (const { seq, to } of ranges.toSorted((a, b) => a.seq - b.seq)) {
    count += Math.max(0, to + 1 - Math.max(seq, next))
    next = Math.max(next, to + 1)
  }
  return count
}

/** Breaks that were recorded or found now and that nobody acknowledged. */
function summarize(keys: rules.AuditKeys, recorded: BreakRow[], found: ChainBreak[]) {
  const acknowledged = Map.groupBy(
    recorded.filter((row) => isAcknowledged(keys, row)),
    ({ chain_id }) => chain_id,
  )
  const known = Map.groupBy(recorded, ({ chain_id }) => chain_id)
  const all = [...recorded.map(breakOf), ...found.filter((one) => !rules.isCovered(one, (known.get(one.chain_id) ?? []).map(rangeOf)))]
  const breaks = all
    .filter((one) => !rules.isCovered(one, (acknowledged.get(one.chain_id) ?? []).map(rangeOf)))
    .sort((a, b) => (a.chain_id === b.chain_id ? a.seq - b.seq : a.chain_id < b.chain_id ? -1 : 1))
    .map((one) => ({ ...one, reason: rules.reasons[one.reason] }))
  const count = all.length - breaks.length
  return {
    ...(count ? { acknowledged: count } : {}),
    ...(breaks[0] ? { broken: breaks[0], breaks: breaks.slice(0, MAX_REPORTED) } : {}),
  }
}

const breakOf = ({ chain_id, seq, to_seq: to, reason, row_id }: BreakRow): ChainBreak => ({
  ...{ chain_id, seq, to, reason: reason as rules.BreakReason },
  ...(row_id ? { id: row_id } : {}),
})

/** A chain with a recorded end is listed in the deployment's chain. */
async function findUnlisted(db: Db, heads: Head[]): Promise<ChainBreak[]> {
  const ids = heads.map(({ chain_id }) => chain_id)
  const listed = new Set((await store.listIds(db, rules.listing, undefined, ids.length, ids)).map(({ id }) => id))
  return ids.filter((id) => !listed.has(id)).map((chain_id) => ({ chain_id, seq: 0, to: 0, reason: 'unlisted' }))
}

/** A listed chain has a recorded end, because both are written in one transaction. */
async function findUnrecorded(run: Run): Promise<ChainBreak[]> {
  const found: ChainBreak[] = []
  for (let after: string | undefined; ; ) {
    const ids: string[] = (await store.listIds(run.db, rules.listing, after, CHAINS_AT_ONCE, run.chain_ids)).map(({ id }) => id)
    const recorded = new Set((await store.findRecorded(run.db, ids)).map(({ chain_id }) => chain_id))
    found.push(
      ...(await findDeletedEnds(
        run,
        ids.filter((id) => !recorded.has(id)),
      )),
    )
    if (ids.length < CHAINS_AT_ONCE) return found
    after = ids.at(-1)
  }
}

async function findDeletedEnds({ db }: Run, chain_ids: string[]) {
  const found: ChainBreak[] = []
  for (const chain_id of chain_ids) {
    const last = (await findLast(db, chain_id))?.chain_seq ?? 0
    found.push({ chain_id, ...rules.findBreakAtEnd(undefined, last) })
  }
  return found
}
