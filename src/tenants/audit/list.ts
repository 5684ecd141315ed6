import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { findPersonName } from '../people/actions.ts'
import { visibleTeams } from '../teams/rules.ts'
import { decryptReason, verifyAudit } from './actions.ts'
import * as store from './store.ts'

type Query = Omit<store.AuditFilter, 'org_id' | 'team_ids'> & {
  team_id?: string | null | undefined
  limit: number
  next_cursor?: string | null | undefined
}

export async function listAudit(app: App, caller: ManagementCaller, { team_id, limit, next_cursor, ...filter }: Query) {
  const page = pageAfter(next_cursor, limit)
  const found = await store.listRows(app.db, { ...filter, org_id: caller.org_id, team_ids: visibleTeams(caller, team_id) }, page)
  const { rows, next_cursor: next } = pageOf(found, page, ({ at, id }) => ({ at, id }))
  const names = await loadActorNames(
    app,
    rows.filter(({ actor_kind }) => actor_kind === 'person').map(({ actor_id }) => actor_id as string),
  )
  const entries = rows.map((row) => ({
    ...row,
    actor_name: names.get(row.actor_id ?? '') ?? null,
    revealed: row.reason !== null && row.status < 400,
    reason: decryptReason(app, row),
  }))
  return { entries, next_cursor: next }
}

async function loadActorNames(app: App, ids: string[]) {
  const people = await Promise.all([...new Set(ids)].map((id) => findPersonName(app, id)))
  return new Map(people.flatMap((person) => (person ? [[person.id, person.name] as const] : [])))
}

type VerificationResult = { verified_at: string; verification: Awaited<ReturnType<typeof verifyAudit>> }

const lastVerification = declareCache((): { running?: Promise<VerificationResult> } => ({}))

/** The deployment shares one long chain, so a verification is reused for one minute. */
export async function verifyAuditLog(app: App) {
  const last = lastVerification(app)
  const previous = await last.running?.catch(() => undefined)
  const isFresh = previous && previous.verified_at > later(app.wall(), -MINUTE)
  if (!isFresh || !last.running) last.running = verify(app)
  const { verification, verified_at } = await last.running
  const { broken, rows, unchained } = verification
  // The row's ID is left out because the row may belong to another organization.
  return {
    intact: !broken,
    rows,
    unchained,
    broken: broken ? { seq: broken.seq, reason: broken.reason.split(';')[0] as string } : null,
    verified_at,
  }
}

const verify = async (app: App): Promise<VerificationResult> => ({ verified_at: app.wall(), verification: await verifyAudit(app) })
