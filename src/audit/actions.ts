import { randomUUID } from 'node:crypto'
import { type App, type Caller, inTransaction } from '../app.ts'
import { derive } from '../sealing/seal.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Deed = { action: string; subject?: string | undefined; status: number; request_id?: string | undefined }

/** Who acts without a key: the operator at the command line, or a job on a team. */
export type Keyless = { kind: 'operator' } | { kind: 'job'; org_id?: string; team_id: string }

/** The audit row of what somebody did. */
export function auditRow(app: App, actor: Caller | Keyless, deed: Deed): store.NewAuditRow {
  return {
    id: randomUUID(),
    at: app.wall(),
    org_id: 'org_id' in actor ? actor.org_id : null,
    team_id: 'team_id' in actor ? actor.team_id : null,
    actor_kind: 'key_id' in actor ? `${actor.kind}_key` : actor.kind,
    actor_id: 'key_id' in actor ? actor.key_id : null,
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

/** Hangs committed rows on the chain, in batches. One process at a time; the others find nothing to do. */
export const chainAudit = (app: App) =>
  inTransaction(app, async (app) => {
    if (!(await store.lockChain(app.db))) return false
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
    const walked = rules.findBreak(auditKey(app), at, await store.chainedBetween(app.db, at.seq, head.seq, BATCH))
    at = walked.at
    found = walked
  }
  const { count } = await store.countUnchained(app.db)
  const broken = found.broken ?? rules.findBreakAtEnd(at, head, last ?? 0)
  return { rows: at.seq, unchained: count, ...(broken ? { broken } : {}) }
}

const auditKey = (app: App) => derive(app.vault.root, 'audit chain')
