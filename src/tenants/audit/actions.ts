import { randomUUID } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import type { NewAuditRow } from '../../platform/db/request-rows.ts'
import { derive, open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** `team_id` names the team whose data was affected when the actor belongs to no team. */
type AuditEntry = {
  action: string
  subject?: string | undefined
  status: number
  request_id?: string | undefined
  team_id?: string | undefined
}

/** An actor without a key: the operator at the command line, a job, or a visitor who failed to sign in. */
type SystemActor =
  | { kind: 'operator' }
  | { kind: 'job'; org_id?: string; team_id: string }
  | { kind: 'visitor'; org_id?: string; console: {} }

export function auditRow(app: App, actor: Caller | SystemActor, entry: AuditEntry): NewAuditRow {
  const id = randomUUID()
  return {
    id,
    at: app.wall(),
    org_id: 'org_id' in actor ? actor.org_id : null,
    team_id: 'team_id' in actor ? actor.team_id : (entry.team_id ?? null),
    actor_kind: actorKindOf(actor),
    actor_id: consoleUserOf(actor)?.actor_id ?? ('key_id' in actor ? actor.key_id : null),
    action: entry.action,
    subject: entry.subject ?? null,
    status: entry.status,
    request_id: entry.request_id ?? null,
    via: 'console' in actor && actor.console ? 'console' : null,
    reason: encryptReason(app, actor, id),
  }
}

const consoleUserOf = (actor: Caller | SystemActor) =>
  'console' in actor && actor.console && 'actor_id' in actor.console ? actor.console : undefined

const reasonAssociatedData = (id: string) => `audit_log.reason.${id}`

function encryptReason(app: App, actor: Caller | SystemActor, id: string) {
  const { reason } = consoleUserOf(actor) ?? {}
  return reason && 'org_id' in actor && actor.org_id ? seal(orgSealingKey(app, actor.org_id), reasonAssociatedData(id), reason) : null
}

/** Decrypts the reason an actor gave for revealing personal data. */
export const decryptReason = (app: App, { id, org_id, reason }: { id: string; org_id: string | null; reason: Buffer | null }) =>
  reason && org_id ? open<string>(orgSealingKey(app, org_id), reasonAssociatedData(id), reason) : null

/** Names the credential an actor used: a kind of key or token, or `person`. */
export function actorKindOf(actor: Caller | SystemActor) {
  const console = consoleUserOf(actor)
  if (console) return console.kind === 'person' ? 'person' : `${console.kind}_key`
  if ('token' in actor) return 'access_token'
  if (actor.kind === 'link') return 'link_token'
  if (actor.kind === 'team' && actor.user_id) return 'user_token'
  return 'key_id' in actor ? `${actor.kind}_key` : actor.kind
}

/** Writes rows in the caller's transaction, so every committed change has an audit row. */
export const recordChange = (app: AppInTransaction, ...rows: NewAuditRow[]) => store.insertRows(app.db, rows)

export type AuditBatch = (row: NewAuditRow) => Promise<void>

/** Commits rows in batches: rows that arrive during a write join the next batch. */
export function newAuditBatch(app: App): AuditBatch {
  let pending: NewAuditRow[] = []
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const write = async () => {
    const rows = pending
    pending = []
    next = undefined
    for (let done = 0; done < rows.length; done += BATCH_SIZE) await store.insertRows(app.db, rows.slice(done, done + BATCH_SIZE))
  }
  return (row) => {
    pending.push(row)
    if (!next) {
      next = running.then(write)
      running = next.catch(() => {})
    }
    return next
  }
}

const BATCH_SIZE = 1000

/** Records the start of the chain when the database is set up. */
export const openChain = (app: App) => store.setHead(app.db, rules.start.seq, rules.endMac(auditKey(app), rules.start))

/** Links committed rows into the chain in batches. One process runs at a time; the others return immediately. */
export const chainAudit = (app: App) =>
  inTransaction(app, async (app) => {
    if (!(await store.lockChain(app.db))) return false
    const end = await store.findRecordedEnd(app.db)
    let at: rules.Link = end?.hash ? { seq: end.seq, hash: end.hash } : rules.start
    const unchained = await store.listUnchained(app.db, BATCH_SIZE)
    const links = unchained.map((row) => {
      at = rules.nextLink(auditKey(app), at, row)
      return { id: row.id, ...at }
    })
    if (!links.length) return false
    await store.setLinks(app.db, links)
    await store.setHead(app.db, at.seq, rules.endMac(auditKey(app), at))
    return links.length === BATCH_SIZE
  })

type Verification = { rows: number; unchained: number; broken?: rules.Break }

/** Verifies the whole chain up to its recorded end. */
export async function verifyAudit(app: App): Promise<Verification> {
  const key = auditKey(app)
  const end = await store.findRecordedEnd(app.db)
  let at = rules.start
  let broken: rules.Break | undefined
  while (!broken && end && at.seq < end.seq) {
    const segment = rules.findBreak(key, at, await store.listChained(app.db, at.seq, end.seq, BATCH_SIZE))
    at = segment.at
    broken = segment.broken
  }
  broken ??= rules.findBreakAtEnd(key, at, end)
  const { count } = await store.countUnchained(app.db)
  return { rows: at.seq, unchained: count, ...(broken ? { broken } : {}) }
}

const auditKey = (app: App) => derive(app.vault.root, 'audit chain')
