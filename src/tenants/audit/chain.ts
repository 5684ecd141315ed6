import type { KeyObject } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import type { NewAuditRow } from '../../platform/db/rows/request-rows.ts'
import { auditRow, listingRow, recordStart, signRow } from './actions.ts'
import { auditKey, auditKeys } from './key.ts'
import * as rules from './rules.ts'
import * as store from './store-chain.ts'
import { listIds } from './store-verify.ts'
import { recordNewBreaks } from './verify.ts'

export { searchUnlinked } from './store-chain.ts'

const BATCH_SIZE = 1000

/**
 * Moves committed rows of every chain from the outbox, up to a batch of each, and returns whether there may be more. Several processes
 * may do it: one of them extends a chain, and the others change nothing.
 */
export async function linkAudit(app: App) {
  let [isCut, isExtended] = [false, false]
  for (let after: string | undefined; ; ) {
    const rows = await store.listUnlinked(app.db, after, BATCH_SIZE)
    for (const ofChain of Map.groupBy(rows, ({ chain_id }) => chain_id).values()) if (await linkRows(app, ofChain)) isExtended = true
    if (rows.length < BATCH_SIZE) return isCut && isExtended
    isCut = true
    after = rows.at(-1)?.chain_id
  }
}

type UnlinkedRow = Awaited<ReturnType<typeof store.listUnlinked>>[number]

/** Extends a chain by its next rows. A chain whose end cannot be trusted continues in a new segment. */
async function linkRows(app: App, rows: UnlinkedRow[]) {
  const [chain] = rows as [UnlinkedRow]
  const { chain_id } = chain
  const end = trustedEndOf(auditKeys(app).live, chain) ?? (await inTransaction(app, (app) => openChain(app, chain, rows)))
  if (!end) return false
  try {
    return await extend(app, chain_id, end, rows)
  } catch (error) {
    if (!isUniqueViolation(error, 'audit_log_pkey')) throw error
    // The outbox has IDs that are in the chain: of rows that were inserted again, or that Assay did not write.
    const beside = await store.listUnlinkedBeside(app.db, chain_id, BATCH_SIZE)
    const [again, added] = [beside.filter((row) => row.is_linked), beside.filter((row) => !row.is_linked)]
    return beside.length > 0 && extend(app, chain_id, end, added, again)
  }
}

const trustedEndOf = (keys: KeyObject[], { chain_id, head_seq: seq, head_mac: mac, last_seq, last_hash }: store.Chain) =>
  seq !== null && mac && seq === (last_seq ?? 0) ? rules.trustedEnd(keys, { chain_id, seq, mac }, last_hash) : undefined

/** A chain that is listed but has no recorded end is not new: its end was deleted. Undefined if another process did it first. */
async function openChain(app: AppInTransaction, chain: store.Chain, rows: UnlinkedRow[]) {
  const isNew = chain.head_seq === null && chain.chain_id !== rules.DEPLOYMENT_CHAIN && (await listChain(app, chain.chain_id))
  if (!isNew) return openSegment(app, chain, rows)
  await recordStart(app, chain.chain_id)
  return rules.start
}

/** Lists a chain at the end of the deployment's chain. Returns false if it is listed. */
export async function listChain(app: AppInTransaction, chain_id: string) {
  for (;;) {
    const deployment = await store.findChain(app.db, rules.DEPLOYMENT_CHAIN)
    // Listing after this read extends the chain of the deployment, and the append below fails.
    if ((await listIds(app.db, rules.listing, undefined, 1, [chain_id])).length) return false
    const end = trustedEndOf(auditKeys(app).live, deployment)
    if (!end) await openSegment(app, deployment)
    else if (await append(app, deployment, end, listingRow(app, chain_id))) return true
  }
}

/** Starts a segment whose first row records the break. Undefined if another process did it first. */
async function openSegment(app: AppInTransaction, chain: store.Chain, rows: UnlinkedRow[] = []) {
  const { chain_id, head_seq } = chain
  const last = chain.last_seq ?? 0
  const found = rules.findBreakAtEnd(head_seq === null ? undefined : { seq: head_seq }, last)
  const before = rules.segmentStart(rules.nextSegmentSeq(head_seq ?? 0, last))
  // The team and the organization are those of a row that Assay wrote.
  const { team_id = null, org_id = null } = rows.find((row) => rules.isAuthentic(auditKeys(app).live, row)) ?? {}
  const entry = { action: rules.OPEN_SEGMENT, subject: rules.describeBreak(found), status: 200 }
  const row = signRow(app, { ...auditRow(app, { kind: 'job' }, entry), chain_id, team_id, org_id })
  const link = await append(app, chain, before, row)
  if (link) await recordNewBreaks(app.db, [{ chain_id, ...found }], app.wall())
  return link
}

/** Appends a row directly, with the end that it becomes. Undefined if another process extended the chain first. */
async function append(app: AppInTransaction, { chain_id, head_mac }: store.Chain, before: rules.Link, row: NewAuditRow) {
  const link = rules.nextLink(auditKey(app), before, row)
  const mac = rules.endMac(auditKey(app), chain_id, link)
  if (!(await store.resetEnd(app.db, { chain_id, from_mac: head_mac, seq: link.seq, mac }))) return undefined
  await store.insertLinked(app.db, row, link)
  return link
}

/** A row that Assay did not write gets a link that says so, and is recorded as a break. */
async function extend(app: App, chain_id: string, end: rules.Link, rows: rules.WrittenRow[], duplicates: rules.WrittenRow[] = []) {
  const { current: key, live } = auditKeys(app)
  let at = end
  const breaks: rules.Break[] = []
  const hashes = rows.map((row) => {
    const isOurs = rules.isAuthentic(live, row)
    at = isOurs ? rules.nextLink(key, at, row) : rules.refusedLink(key, at, row)
    if (!isOurs) rules.addBreak(breaks, { seq: at.seq, to: at.seq, id: row.id, reason: 'refused' })
    return at.hash
  })
  const mac = rules.endMac(key, chain_id, at)
  const extension = { chain_id, from_seq: end.seq, ids: idsOf(rows), hashes, mac, duplicates: idsOf(duplicates) }
  if (!breaks.length) return store.extendChain(app.db, extension)
  return inTransaction(app, async (app) => {
    const isFirst = await store.extendChain(app.db, extension)
    const found = breaks.map((one) => ({ chain_id, ...one }))
    if (isFirst) await recordNewBreaks(app.db, found, app.wall())
    return isFirst
  })
}

const idsOf = (rows: rules.WrittenRow[]) => rows.map(({ id }) => id)
