import type { App, AppInTransaction } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import { isConnectionLost, isUniqueViolation } from '../../platform/db/errors.ts'
import type { NewAuditRow } from '../../platform/db/rows/request-rows.ts'
import { timeOrderedId } from '../../platform/db/time-ordered-id.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { runForService } from '../../platform/shares/share.ts'
import { auditKey } from './key.ts'
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

/** An actor without a key: the operator at the command line, a job, or a visitor who failed to sign in or used a link in a message. */
type SystemActor =
  | { kind: 'operator' }
  | { kind: 'job'; org_id?: string; team_id?: string }
  | { kind: 'visitor'; org_id?: string; console?: {} }

export function auditRow(app: App, actor: Caller | SystemActor, entry: AuditEntry): NewAuditRow {
  const at = app.wall()
  const id = timeOrderedId(at)
  const org_id = ('org_id' in actor && actor.org_id) || null
  const team_id = ('team_id' in actor ? actor.team_id : entry.team_id) ?? null
  return signRow(app, {
    chain_id: rules.chainOf({ team_id, org_id }),
    id,
    at,
    org_id,
    team_id,
    actor_kind: actorKindOf(actor),
    actor_id: consoleUserOf(actor)?.actor_id ?? ('key_id' in actor ? actor.key_id : null),
    action: entry.action,
    subject: entry.subject ?? null,
    status: entry.status,
    request_id: entry.request_id ?? null,
    via: 'console' in actor && actor.console ? 'console' : null,
    reason: encryptReason(app, actor, id),
  })
}

/** Adds the MAC that proves, in the outbox and in the chain, that Assay wrote the row. */
export const signRow = (app: App, row: rules.AuditFields): NewAuditRow => ({ ...row, mac: rules.rowMac(auditKey(app), row) })

const consoleUserOf = (actor: Caller | SystemActor) =>
  'console' in actor && actor.console && 'actor_id' in actor.console ? actor.console : undefined

const reasonAssociatedData = (id: string) => `audit_log.reason.${id}`

function encryptReason(app: App, actor: Caller | SystemActor, id: string) {
  const { reason } = consoleUserOf(actor) ?? {}
  return reason && 'org_id' in actor && actor.org_id ? seal(orgSealingKey(app, actor.org_id), reasonAssociatedData(id), reason) : null
}

/** Decrypts the reason an actor gave for revealing personal data. */
export const decryptReason = (app: App, { id, org_id, reason }: { id: string; org_id: string | null; reason: Buffer | null }) =>
  reason && org_id ? open<string>(orgSealingKey(app, org_id, reason), reasonAssociatedData(id), reason) : null

/** Names the credential an actor used: a kind of key or token, or `person`. */
export function actorKindOf(actor: Caller | SystemActor) {
  const console = consoleUserOf(actor)
  if (console) return console.kind === 'person' ? 'person' : `${console.kind}_key`
  if ('token' in actor) return 'access_token'
  if (actor.kind === 'link') return 'link_token'
  if (actor.kind === 'team' && actor.user_id) return 'user_token'
  if (actor.kind === 'team' && actor.webhook_id) return 'webhook_secret'
  return 'key_id' in actor ? `${actor.kind}_key` : actor.kind
}

/** Writes rows in the caller's transaction, so every committed change has an audit row. */
export const recordChange = (app: AppInTransaction, ...rows: NewAuditRow[]) => store.insertRows(app.db, rows)

export type AuditBatch = (row: NewAuditRow) => Promise<void>

/** With one batch at a time, a row would wait for the batch before it, which is long on a busy event loop. */
const MAX_BATCHES = 3

/** Commits rows in batches: rows that arrive while enough batches are being written join the next one. */
export function newAuditBatch(app: App): AuditBatch {
  let next: { rows: NewAuditRow[]; written: PromiseWithResolvers<void> } | undefined
  let inFlight = 0
  const writeNext = async () => {
    if (!next || inFlight === MAX_BATCHES) return
    const { rows, written } = next
    next = undefined
    inFlight++
    await runForService(() => insertAll(app, rows)).then(written.resolve, written.reject)
    inFlight--
    writeNext()
  }
  return (row) => {
    if (!next) {
      next = { rows: [], written: Promise.withResolvers() }
      queueMicrotask(writeNext)
    }
    next.rows.push(row)
    return next.written.promise
  }
}

async function insertAll(app: App, rows: NewAuditRow[]) {
  for (let done = 0; done < rows.length; done += BATCH_SIZE) await insertRows(app, rows.slice(done, done + BATCH_SIZE))
}

/** A statement whose connection was lost may have been committed. It can be repeated, because duplicates are not linked. */
const insertRows = (app: App, rows: NewAuditRow[]) =>
  store.insertRows(app.db, rows).catch(async (error) => {
    if (!isConnectionLost(error)) throw error
    await store.insertRows(app.db, rows).catch((error) => {
      if (!isUniqueViolation(error)) throw error
    })
  })

const BATCH_SIZE = 1000

/** Records the start of the deployment's chain when the database is set up. */
export const openChain = (app: AppInTransaction) => recordStart(app, rules.DEPLOYMENT_CHAIN)

export const recordStart = (app: AppInTransaction, chain_id: string) =>
  store.insertHead(app.db, { chain_id, seq: rules.start.seq, mac: rules.endMac(auditKey(app), chain_id, rules.start) })

/** The row of the deployment's chain that lists another chain. */
export const listingRow = (app: App, chain_id: string) => {
  const entry = { action: rules.listing.action, subject: `chain_id:${chain_id}`, status: 200 }
  return signRow(app, { ...auditRow(app, { kind: 'job' }, entry), id: chain_id })
}
