import { type App, inTransaction } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { decryptReason } from '../audit/actions.ts'
import { acknowledgeBreak, listStillOpen } from '../audit/breaks.ts'
import { type AuditFilter, listNewest } from '../audit/newest.ts'
import { DEPLOYMENT_CHAIN } from '../audit/rules.ts'
import { verifyAudit } from '../audit/verification.ts'
import type { ReportedBreak, Verification } from '../audit/verify.ts'
import { findPersonName } from '../people/actions.ts'
import { listErasedTeamIds, listTeamIds } from '../teams/actions.ts'
import { visibleTeams } from '../teams/rules.ts'

type Query = Omit<AuditFilter, 'org_id'> & {
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
  const { breaks = [], rows, unchained } = verification
  const open = breaks.length ? await listStillOpen(app, breaks) : []
  const [broken] = open
  // The row's ID is left out because the row may belong to another organization.
  return {
    intact: !broken,
    rows,
    unchained,
    broken: broken ? { seq: broken.seq, reason: broken.reason } : null,
    breaks: open
      .filter(({ chain_id }) => chain_id !== DEPLOYMENT_CHAIN)
      .map(({ chain_id, seq, to, reason }) => ({ chain_id, seq, to, reason })),
    verified_at,
  }
}

type BreakPosition = Pick<ReportedBreak, 'chain_id' | 'seq' | 'to'>

/** Acknowledges an open break of a chain of the organization, and records in the chain who did it. */
export async function acknowledgeAuditBreak(app: App, caller: ManagementCaller, { chain_id, seq, to }: BreakPosition) {
  const isOwn = (await chainsOf(app, caller.org_id)).includes(chain_id)
  const { breaks = [] } = isOwn ? await verifyAudit(app, { chain_ids: [chain_id] }) : {}
  const found = breaks.find((one) => one.chain_id === chain_id && one.seq === seq && one.to === to)
  if (!found) throw problem('AUDIT_BREAK_NOT_FOUND', 'No open break is at this position. Verify the audit log to list the open breaks.')
  return inTransaction(app, async (app) => {
    await acknowledgeBreak(app, found, caller.console?.actor_id ?? caller.key_id ?? 'operator', caller)
    return { success: true }
  })
}

async function verify(app: App, org_id: string): Promise<Verified> {
  const verified_at = app.wall()
  return { verified_at, verification: await verifyAudit(app, { chain_ids: await chainsOf(app, org_id) }) }
}

const chainsOf = async (app: App, org_id: string) => [
  org_id,
  ...(await listTeamIds(app, { org_id, team_ids: undefined })),
  ...(await listErasedTeamIds(app, org_id)),
]
