import { randomUUID } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import { derive, open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type { NewAuditRow } from './store.ts'

/** `team_id`: whose data it was about, where the actor is of no team. */
type AuditEntry = {
  action: string
  subject?: string | undefined
  status: number
  request_id?: string | undefined
  team_id?: string | undefined
}

/** Who acts without a key: the operator at the command line, or a job on a team. */
type SystemActor =
  | { kind: 'operator' }
  | { kind: 'job'; org_id?: string; team_id: string }
  | { kind: 'visitor'; org_id?: string; console: {} }

/** The audit row of what somebody did. */
export function auditRow(app: App, actor: Caller | SystemActor, deed: AuditEntry): store.NewAuditRow {
  const id = randomUUID()
  return {
    id,
    at: app.wall(),
    org_id: 'org_id' in actor ? actor.org_id : null,
    team_id: 'team_id' in actor ? actor.team_id : (deed.team_id ?? null),
    actor_kind: kindOf(actor),
    actor_id: atConsole(actor)?.actor_id ?? ('key_id' in actor ? actor.key_id : null),
    action: deed.action,
    subject: deed.subject ?? null,
    status: deed.status,
    request_id: deed.request_id ?? null,
    via: 'console' in actor && actor.console ? 'console' : null,
    reason: sealedReason(app, actor, id),
  }
}

const atConsole = (actor: Caller | SystemActor) =>
  'console' in actor && actor.console && 'actor_id' in actor.console ? actor.console : undefined

const reasonAssociatedData = (id: string) => `audit_log.reason.${id}`

function sealedReason(app: App, actor: Caller | SystemActor, id: string) {
  const { reason } = atConsole(actor) ?? {}
  return reason && 'org_id' in actor && actor.org_id ? seal(orgSealingKey(app, actor.org_id), reasonAssociatedData(id), reason) : null
}

/** The reason that somebody gave for seeing personal data. */
export const reasonOf = (app: App, { id, org_id, reason }: { id: string; org_id: string | null; reason: Buffer | null }) =>
  reason && org_id ? open<string>(orgSealingKey(app, org_id), reasonAssociatedData(id), reason) : null

/** By what somebody acts: a kind of key, or a person. */
export function kindOf(actor: Caller | SystemActor) {
  const console = atConsole(actor)
  if (console) return console.kind === 'person' ? 'person' : `${console.kind}_key`
  if ('token' in actor) return 'access_token'
  if (actor.kind === 'link') return 'link_token'
  if (actor.kind === 'team' && actor.user_id) return 'user_token'
  return 'key_id' in actor ? `${actor.kind}_key` : actor.kind
}

/** Writes rows in the caller's transaction, so that no change is without its own. */
export const recordChange = (app: AppInTransaction, ...rows: store.NewAuditRow[]) => store.insertRows(app.db, rows)

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
    for (let done = 0; done < rows.length; done += BATCH) await store.insertRows(app.db, rows.slice(done, done + BATCH))
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

/** The beginning of the chain, recorded when the database becomes ours. */
export const openChain = (app: App) => store.setHead(app.db, rules.start.seq, rules.endMac(auditKey(app), rules.start))

/** Hangs committed rows on the chain, in batches. One process at a time; the others find nothing to do. */
export const chainAudit = (app: App) =>
  inTransaction(app, async (app) => {
    if (!(await store.lockChain(app.db))) return false
    const end = await store.recordedEnd(app.db)
    let at: rules.Link = end?.hash ? { seq: end.seq, hash: end.hash } : rules.start
    const fresh = await store.unchained(app.db, BATCH)
    const links = fresh.map((row) => {
      at = rules.nextLink(auditKey(app), at, row)
      return { id: row.id, ...at }
    })
    if (!links.length) return false
    await store.setLinks(app.db, links)
    await store.setHead(app.db, at.seq, rules.endMac(auditKey(app), at))
    return links.length === BATCH
  })

type Verdict = { rows: number; unchained: number; broken?: rules.Break }

/** Walks the whole chain up to its recorded end. */
export async function verifyAudit(app: App): Promise<Verdict> {
  const key = auditKey(app)
  const end = await store.recordedEnd(app.db)
  let at = rules.start
  let broken: rules.Break | undefined
  while (!broken && end && at.seq < end.seq) {
    const walked = rules.findBreak(key, at, await store.chainedBetween(app.db, at.seq, end.seq, BATCH))
    at = walked.at
    broken = walked.broken
  }
  broken ??= rules.findBreakAtEnd(key, at, end)
  const { count } = await store.countUnchained(app.db)
  return { rows: at.seq, unchained: count, ...(broken ? { broken } : {}) }
}

const auditKey = (app: App) => derive(app.vault.root, 'audit chain')
