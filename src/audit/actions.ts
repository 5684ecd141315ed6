import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type App, type Caller, inTransaction } from '../app.ts'
import { derive } from '../sealing/seal.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Deed = { action: string; subject?: string | undefined; status: number; request_id?: string | undefined }

/** The audit row of what a caller did; the operator acts without a key. */
export function auditRow(app: App, caller: Caller | undefined, deed: Deed): store.NewAuditRow {
  return {
    id: randomUUID(),
    at: app.wall(),
    org_id: caller?.org_id ?? null,
    team_id: caller?.kind === 'team' ? caller.team_id : null,
    actor_kind: caller ? `${caller.kind}_key` : 'operator',
    actor_id: caller?.key_id ?? null,
    action: deed.action,
    subject: deed.subject ?? null,
    status: deed.status,
    request_id: deed.request_id ?? null,
  }
}

/** Writes a row in the caller's transaction, so that no change is without it. */
export const recordChange = (app: App, row: store.NewAuditRow) => store.insertRows(app.db, [row])

export type AuditBatch = (row: store.NewAuditRow) => Promise<void>

/** Commits rows in groups: whoever comes while a group is being written waits for the next one, not for each other. */
export function auditBatch(app: App): AuditBatch {
  let waiting: store.NewAuditRow[] = []
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const write = async () => {
    const rows = waiting
    waiting = []
    next = undefined
    await store.insertRows(app.db, rows)
  }
  return (row) => {
    waiting.push(row)
    if (!next) {
      next = running.then(write)
      running = next.catch(() => {})
    }
    return next
  }
}

const BATCH = 1000
const LOCK = 4_117_202_602

/** Hangs committed rows on the chain, in batches. One process at a time; the others find nothing to do. */
export const chainAudit = (app: App) =>
  inTransaction(app, async (app) => {
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as mine`.execute(app.db)
    if (!rows[0]?.mine) return false
    let at: rules.Link = (await store.head(app.db)) ?? rules.start
    const fresh = await store.unchained(app.db, BATCH)
    const links = fresh.map((row) => {
      at = rules.nextLink(auditKey(app), at, row)
      return { id: row.id, ...at }
    })
    if (!links.length) return false
    await store.setLinks(app.db, links)
    await store.setHead(app.db, at.seq, at.hash)
    return links.length === BATCH
  })

export type Verdict = { rows: number; unchained: number; broken?: rules.Break }

/** Walks the whole chain up to its recorded head. */
export async function verifyAudit(app: App): Promise<Verdict> {
  const { seq, hash, last } = await store.recordedEnd(app.db)
  const head = seq !== null && hash ? { seq, hash } : rules.start
  let at = rules.start
  let found: { broken?: rules.Break } = {}
  while (!found.broken && at.seq < head.seq) {
    const walked = rules.findBreak(auditKey(app), at, await store.chainedAfter(app.db, at.seq, BATCH))
    at = walked.at
    found = walked
  }
  const { count } = await store.countUnchained(app.db)
  const broken = found.broken ?? rules.findBreakAtEnd(at, head, last ?? 0)
  return { rows: at.seq, unchained: count, ...(broken ? { broken } : {}) }
}

const auditKey = (app: App) => derive(app.vault.root, 'audit chain')
