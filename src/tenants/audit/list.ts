import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { type Page, pageAfter, pageOf } from '../../platform/paging.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { findPersonName } from '../people/actions.ts'
import { listErasedTeamIds, listTeamIds } from '../teams/actions.ts'
import { visibleTeams } from '../teams/rules.ts'
import { decryptReason } from './actions.ts'
import * as store from './store.ts'
import { verifyAudit } from './verification.ts'
import type { Verification } from './verify.ts'

type Query = Omit<store.AuditFilter, 'org_id'> & {
  team_id?: string | null | undefined
  limit: number
  next_cursor?: string | null | undefined
}

export async function listAudit(app: App, caller: ManagementCaller, { team_id, limit, next_cursor, ...filter }: Query) {
  const page = pageAfter(next_cursor, limit)
  const { org_id } = caller
  const found = await listNewest(app, await visibleChains(app, caller, team_id), { ...filter, org_id }, page)
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

/** The chains of the teams that a caller sees. A caller who sees every team also sees the organization's own chain. */
async function visibleChains(app: App, caller: ManagementCaller, team_id: string | null | undefined) {
  const team_ids = visibleTeams(caller, team_id)
  const chain_ids = await listTeamIds(app, { ...caller, team_ids })
  return team_ids ? chain_ids : [caller.org_id, ...chain_ids]
}

const CHAINS_AT_ONCE = 100

/** Reads many chains in several statements, because each adds to the size of its statement. */
async function listNewest(app: App, chain_ids: string[], filter: store.AuditFilter, page: Page) {
  const found = []
  for (let i = 0; i < chain_ids.length; i += CHAINS_AT_ONCE)
    found.push(...(await store.listRows(app.db, chain_ids.slice(i, i + CHAINS_AT_ONCE), filter, page)))
  const newestFirst = found.sort((a, b) => b.at.localeCompare(a.at) || b.id.localeCompare(a.id))
  return newestFirst.slice(0, page.limit + 1)
}

async function loadActorNames(app: App, ids: string[]) {
  const people = await Promise.all([...new Set(ids)].map((id) => findPersonName(app, id)))
  return new Map(people.flatMap((person) => (person ? [[person.id, person.name] as const] : [])))
}

type Verified = { verified_at: string; verification: Verification }

const verifications = declareCache(() => new Map<string, Promise<Verified>>())

/** A verification can read much of the organization's log, so its result is reused for one minute. */
export async function verifyAuditLog(app: App, { org_id }: ManagementCaller) {
  const running = verifications(app)
  const last = running.get(org_id)
  const previous = await last?.catch(() => undefined)
  const isFresh = previous && previous.verified_at > later(app.wall(), -MINUTE)
  if (!isFresh && running.get(org_id) === last) running.set(org_id, verify(app, org_id))
  const { verification, verified_at } = await (running.get(org_id) as Promise<Verified>)
  const { broken, rows, unchained } = verification
  // The row's ID is left out because the row may belong to another organization.
  return {
    intact: !broken,
    rows,
    unchained,
    broken: broken ? { seq: broken.seq, reason: broken.reason } : null,
    verified_at,
  }
}

async function verify(app: App, org_id: string): Promise<Verified> {
  const verified_at = app.wall()
  const chain_ids = [org_id, ...(await listTeamIds(app, { org_id, team_ids: undefined })), ...(await listErasedTeamIds(app, org_id))]
  return { verified_at, verification: await verifyAudit(app, { chain_ids }) }
}
