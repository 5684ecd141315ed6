import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import type { NewAuditRow } from '../../platform/db/request-rows.ts'
import { timeOrderedId } from '../../platform/db/time-ordered-id.ts'
import { derive, open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { runForService } from '../../platform/shares/share.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { verifyChains } from './verify.ts'

export { searchUnchained } from './store.ts'

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
  | { kind: 'job'; org_id?: string; team_id?: string }
  | { kind: 'visitor'; org_id?: string; console: {} }

export function auditRow(app: App, actor: Caller | SystemActor, entry: AuditEntry): NewAuditRow {
  const at = app.wall()
  const id = timeOrderedId(at)
  const org_id = ('org_id' in actor && actor.org_id) || null
  const team_id = ('team_id' in actor ? actor.team_id : entry.team_id) ?? null
  return {
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
      next = running.then(() => runForService(write))
      running = next.catch(() => {})
    }
    return next
  }
}

const BATCH_SIZE = 1000

/** Records the start of the deployment's chain when the database is set up. */
export const openChain = (app: AppInTransaction) => recordStart(app, rules.DEPLOYMENT_CHAIN)

const recordStart = (app: AppInTransaction, chain_id: string) =>
  store.insertHead(app.db, { chain_id, seq: rules.start.seq, mac: rules.endMac(auditKey(app), chain_id, rules.start) })

/**
 * Links committed rows of every chain, up to a batch of each, and returns whether there may be more. Several processes may do it:
 * one of them extends a chain, and the others change nothing.
 */
export async function chainAudit(app: App) {
  const done = { opened: false, extended: false, cut: false }
  for (let after: string | undefined; ; ) {
    const rows = await store.listUnchained(app.db, after, BATCH_SIZE)
    for (const [chain_id, ofChain] of Map.groupBy(rows, ({ chain_id }) => chain_id)) {
      if (ofChain[0]?.seq === null) done.opened = (await openNewChain(app, chain_id)) || done.opened
      else done.extended = (await linkRows(app, ofChain)) || done.extended
    }
    if (rows.length < BATCH_SIZE) return done.opened || (done.cut && done.extended)
    done.cut = true
    after = rows.at(-1)?.chain_id
  }
}

/**
 * Lists a new chain in the deployment's chain and records its start. A chain that is listed but has no recorded end is never
 * opened again, so verification detects the deletion of a chain with its end.
 */
const openNewChain = (app: App, chain_id: string) =>
  inTransaction(app, async (app) => {
    if (chain_id === rules.DEPLOYMENT_CHAIN) return false
    const entry = { action: rules.OPEN_CHAIN, subject: `chain_id:${chain_id}`, status: 200 }
    const isNew = await store.insertOnce(app.db, { ...auditRow(app, { kind: 'job' }, entry), id: chain_id })
    if (isNew) await recordStart(app, chain_id)
    return isNew !== undefined
  })

type UnchainedRow = Awaited<ReturnType<typeof store.listUnchained>>[number]

/** Extends a chain by its next rows. A broken chain is not extended. */
async function linkRows(app: App, rows: UnchainedRow[]) {
  const key = auditKey(app)
  const { chain_id, seq, mac, hash } = rows[0] as UnchainedRow
  const end = rules.trustedEnd(key, { chain_id, seq: seq as number, mac: mac as Buffer }, hash)
  if (!end) return false
  let at = end
  const hashes = rows.map((row) => {
    at = rules.nextLink(key, at, row)
    return at.hash
  })
  const ids = rows.map(({ id }) => id)
  return store.extendChain(app.db, { chain_id, from_seq: end.seq, ids, hashes, mac: rules.endMac(key, chain_id, at) })
}

/** Verifies every chain up to its recorded end. */
export const verifyAudit = (app: App) => verifyChains(app.db, auditKey(app))

/** Verifies the chains with these IDs, and the deployment's chain, which lists them. */
export const verifyAuditOf = (app: App, chain_ids: string[]) => verifyChains(app.db, auditKey(app), chain_ids)

const auditKey = (app: App) => derive(app.vault.root, 'audit chain')
