import type { Selectable } from 'kysely'
import { type Db, parameterList, prepareStatement, runPrepared, runQuickWrite } from '../open.ts'
import type { Tables } from '../tables.ts'

export type NewAuditRow = Omit<Selectable<Tables['audit_log']>, 'chain_seq' | 'chain_hash' | 'mac'> & { mac: Buffer }
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
export const outcomeColumns = ['operation', 'key_hash', 'owner', 'status', 'sealed', 'user_id'] as const

/** The audit row as parameters of an SQL function. Without a row they are null. */
export const auditValues = (audit: NewAuditRow | undefined): unknown[] => auditColumns.map((column) => audit?.[column] ?? null)

/** The outcome as parameters of an SQL function, without its team. Without an outcome they are null. */
export const outcomeValues = (outcome: Outcome | undefined): unknown[] => outcomeColumns.map((column) => outcome?.[column] ?? null)

const LOST_LEASE = 'AS001'

/** The outcome was not stored, because another request now holds the idempotency key. */
export const isLostLease = (error: unknown) => (error as { code?: string }).code === LOST_LEASE

/** Writes the rows in an open transaction, for actions that do not write them in a statement of their own. */
export async function writeRequestRows(db: Db, { audit, outcome }: RequestRows) {
  await runPrepared(db, appendAudit, auditValues(audit))
  if (outcome) await runPrepared(db, keepOutcome, [outcome.team_id, ...outcomeValues(outcome)])
}

/** Writes one audit row in a transaction of its own. */
export const writeAuditRow = (db: Db, audit: NewAuditRow) => runQuickWrite(db, appendAudit, auditValues(audit))

const appendAudit = prepareStatement('append_audit', `select append_audit(${parameterList(auditColumns.length)})`)
const keepOutcome = prepareStatement('keep_outcome', `select keep_outcome(${parameterList(1 + outcomeColumns.length)})`)
