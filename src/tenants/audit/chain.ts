import type { KeyObject } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import { DAY, later } from '../../platform/time.ts'
import { auditRow, listingRow, recordStart, signRow } from './actions.ts'
import { recordBreaks } from './breaks.ts'
import { auditKey, auditKeys } from './key.ts'
import * as rules from './rules.ts'
import * as audit from './store.ts'
import * as store from './store-chain.ts'

export { searchUnchained } from './store-chain.ts'

const BATCH_SIZE = 1000

/**
 * Links committed rows of every chain, up to a batch of each, and returns whether there may be more. Several processes may do it:
 * one of them extends a chain, and the others change nothing.
 */
export async function chainAudit(app: App) {
  const done = { opened: false, extended: false, cut: false }
  for (let after: string | undefined; ; ) {
    const rows = await store.listUnchained(app.db, after, BATCH_SIZE)
    const strict = rows.length ? await requiresMacs(app) : true
    for (const [chain_id, ofChain] of Map.groupBy(rows, ({ chain_id }) => chain_id)) {
      if (ofChain[0]?.head_seq === null && (await openNewChain(app, chain_id, strict))) done.opened = true
      else done.extended = (await linkRows(app, ofChain, strict)) || done.extended
    }
    if (rows.length < BATCH_SIZE) return done.opened || (done.cut && done.extended)
    done.cut = true
    after = rows.at(-1)?.chain_id
  }
}

/** Processes of the earlier version, which write no MACs, may run this long after the upgrade. */
const UPGRADE_MS = DAY

const knownStrict = declareCache(() => ({ value: false }))

/**
 * Whether a row without a MAC is refused: always in a database that this version created, and from a day after the upgrade in
 * others. The end of the deployment's chain remembers it.
 */
async function requiresMacs(app: App) {
  const known = knownStrict(app)
  if (known.value) return true
  const key = auditKey(app)
  const head = await store.findEnd(app.db, rules.DEPLOYMENT_CHAIN)
  const end = head && rules.trustedEnd(auditKeys(app).live, head, head.hash)
  const since = await store.findMacsSince(app.db)
  if (head && end && !end.strict) {
    if (since && later(since, UPGRADE_MS) > app.wall()) return false
    const { chain_id, seq, mac: from_mac } = head
    await store.resetEnd(app.db, { chain_id, from_mac, seq, mac: rules.endMac(key, chain_id, { ...end, strict: true }) })
  }
  known.value = true
  return true
}

/**
 * Lists a new chain in the deployment's chain and records its start. A chain that is listed but has no recorded end is not new:
 * its end was deleted.
 */
const openNewChain = (app: App, chain_id: string, strict: boolean) =>
  inTransaction(app, async (app) => {
    if (chain_id === rules.DEPLOYMENT_CHAIN) return false
    const isNew = await audit.insertOnce(app.db, listingRow(app, chain_id))
    if (isNew) await recordStart(app, chain_id, strict)
    // Another process opened the chain in the meantime.
    return isNew !== undefined || (await store.findEnd(app.db, chain_id)) !== undefined
  })

type UnchainedRow = Awaited<ReturnType<typeof store.listUnchained>>[number]

/** Extends a chain by its next rows. A chain whose end cannot be trusted continues in a new segment. */
async function linkRows(app: App, rows: UnchainedRow[], strict: boolean) {
  const end = trustedEndOf(auditKeys(app).live, rows[0] as UnchainedRow) ?? (await openSegment(app, rows, strict))
  return end ? extend(app, rows, { ...end, strict: end.strict || strict }) : false
}

function trustedEndOf(keys: KeyObject[], { chain_id, head_seq: seq, head_mac: mac, last_seq, last_hash }: UnchainedRow) {
  return seq !== null && mac && seq === (last_seq ?? 0) ? rules.trustedEnd(keys, { chain_id, seq, mac }, last_hash) : undefined
}

/** A row that Assay did not write gets a link that says so, and is recorded as a break. */
async function extend(app: App, rows: UnchainedRow[], end: rules.End) {
  const { current: key, live } = auditKeys(app)
  const { chain_id } = rows[0] as UnchainedRow
  let at: rules.Link = end
  const breaks: rules.Break[] = []
  const hashes = rows.map((row) => {
    const isOurs = rules.isAuthentic(live, row) || (!end.strict && row.mac === null)
    at = isOurs ? rules.nextLink(key, at, row) : rules.refusedLink(key, at, row)
    if (!isOurs) rules.addBreak(breaks, { seq: at.seq, to: at.seq, id: row.id, reason: 'refused' })
    return at.hash
  })
  const ids = rows.map(({ id }) => id)
  const mac = rules.endMac(key, chain_id, { ...at, strict: end.strict })
  const extension = { chain_id, from_seq: end.seq, ids, hashes, mac }
  if (!breaks.length) return store.extendChain(app.db, extension)
  return inTransaction(app, async (app) => {
    const isFirst = await store.extendChain(app.db, extension)
    if (isFirst) await recordBreaks(app, chain_id, breaks)
    return isFirst
  })
}

/** Starts a segment whose first row records the break. Undefined if another process did it first. */
const openSegment = (app: App, rows: UnchainedRow[], strict: boolean) =>
  inTransaction(app, async (app): Promise<rules.End | undefined> => {
    const key = auditKey(app)
    const { chain_id, head_seq, head_mac, last_seq } = rows[0] as UnchainedRow
    const last = last_seq ?? 0
    const head = head_seq === null ? undefined : { seq: head_seq }
    const found = rules.findBreakAtEnd(head, last)
    const row = segmentRow(app, rows, found)
    const link = rules.nextLink(key, rules.segmentStart(rules.nextSegmentSeq(head?.seq ?? 0, last)), row)
    const end = { ...link, strict }
    const { seq, mac } = { seq: link.seq, mac: rules.endMac(key, chain_id, end) }
    if (!(await store.resetEnd(app.db, { chain_id, from_mac: head_mac, seq, mac }))) return undefined
    await store.insertLinked(app.db, row, link)
    await recordBreaks(app, chain_id, [found])
    return end
  })

/** The team and the organization are those of a row that Assay wrote. */
function segmentRow(app: AppInTransaction, rows: UnchainedRow[], found: rules.Break) {
  const { chain_id } = rows[0] as UnchainedRow
  const { team_id = null, org_id = null } = rows.find((row) => rules.isAuthentic(auditKeys(app).live, row)) ?? {}
  const entry = { action: rules.OPEN_SEGMENT, subject: rules.describeBreak(found), status: 200 }
  return signRow(app, { ...auditRow(app, { kind: 'job' }, entry), chain_id, team_id, org_id })
}
