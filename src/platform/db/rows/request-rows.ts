import type { Selectable } from 'kysely'
import { type Db, prepareStatement, run } from '../open.ts'
import type { Tables } from '../tables.ts'
import { byteaArray, rowSet } from './row-sets.ts'

export type NewAuditRow = Selectable<Tables['audit_outbox']>
type Outcome = {
  team_id: string
  operation: string
  key_hash: Buffer
  owner: string
  status: number
  sealed: Buffer
  user_id: string | null
}

/** The rows that a request commits with its action: the audit row, and the outcome if the request has an idempotency key. */
export type RequestRows = { audit: NewAuditRow; outcome?: Outcome | undefined }

export const auditColumns = [
  ...(['chain_id', 'id', 'at', 'org_id', 'team_id', 'actor_kind', 'actor_id', 'action', 'subject', 'status'] as const),
  ...(['request_id', 'via', 'reason', 'mac'] as const),
]
const outcomeColumns = ['operation', 'key_hash', 'owner', 'status', 'user_id'] as const

/** Audit rows as a parameter of `append_audits`. */
export const auditValue = (rows: readonly NewAuditRow[]) => rowSet(rows, auditColumns)

/** Outcomes of a team as parameters of `keep_outcomes`. */
const outcomeValues = (outcomes: readonly Outcome[]) => [rowSet(outcomes, outcomeColumns), byteaArray(outcomes.map(({ sealed }) => sealed))]

/** The rows of several requests of a team as parameters of an SQL function: audit rows, outcomes and the ciphertexts of the outcomes. */
export const requestValues = (requests: readonly (RequestRows | undefined)[]) => [
  auditValue(requests.flatMap((rows) => rows?.audit ?? [])),
  ...outcomeValues(requests.flatMap((rows) => rows?.outcome ?? [])),
]

const LOST_LEASE = 'AS001'

/** The outcome was not stored, because another request now holds the idempotency key. */
export const isLostLease = (error: unknown) => (error as { code?: string }).code === LOST_LEASE

/** Writes the rows in an open transaction, for actions that do not write them in a statement of their own. */
export async function writeRequestRows(db: Db, { audit, outcome }: RequestRows) {
  await run(db, appendAudits, [auditValue([audit])])
  if (outcome) await run(db, keepOutcomes, [outcome.team_id, ...outcomeValues([outcome])])
}

/** Writes audit rows in the open transaction, or in one of their own. */
export const writeAuditRows = (db: Db, rows: readonly NewAuditRow[]) => run(db, appendAudits, [auditValue(rows)])

const appendAudits = prepareStatement('append_audits', 'select append_audits($1)', { hot: 'write' })
const keepOutcomes = prepareStatement('keep_outcomes', 'select keep_outcomes($1, $2, $3)')
