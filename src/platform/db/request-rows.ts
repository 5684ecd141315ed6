import { CompiledQuery, type Insertable } from 'kysely'
import { type Db, prepareStatement } from './open.ts'
import type { Tables } from './tables.ts'

export type NewAuditRow = Omit<Insertable<Tables['audit_log']>, 'chain_seq' | 'chain_hash'>
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
  ...(['id', 'at', 'org_id', 'team_id', 'actor_kind', 'actor_id', 'action', 'subject', 'status', 'request_id'] as const),
  ...(['via', 'reason'] as const),
]
const auditTypes = [...['uuid', 'timestamptz', 'uuid', 'uuid', 'text', 'uuid', 'text', 'text', 'smallint', 'text'], ...['text', 'bytea']]
const outcomeTypes = ['uuid', 'text', 'bytea', 'uuid', 'smallint', 'bytea', 'uuid']

const parameter = (i: number) => `$${i + 1}`

const functionCall = (name: string, types: string[], first: number) =>
  `${name}(${types.map((type, i) => `${parameter(first + i)}::${type}`).join(', ')})`

/** A column of the statement's result; `first` is the number of parameters before its own. */
export const auditCall = (first: number) => functionCall('append_audit', auditTypes, first)

/** A column of the statement's result; its parameters follow those of the audit row. */
export const outcomeCall = (first: number) => functionCall('keep_outcome', outcomeTypes, first + auditTypes.length)

export const requestRowValues = ({ audit, outcome }: RequestRows): unknown[] => [
  ...auditColumns.map((column) => audit[column]),
  ...(outcome
    ? [outcome.team_id, outcome.operation, outcome.key_hash, outcome.owner, outcome.status, outcome.sealed, outcome.user_id]
    : []),
]

const LOST_LEASE = 'AS001'

/** The outcome was not stored, because another request now holds the idempotency key. */
export const isLostLease = (error: unknown) => (error as { code?: string }).code === LOST_LEASE

/** Writes the rows in an open transaction, for actions that do not write them in a statement of their own. */
export const writeRequestRows = (db: Db, rows: RequestRows) =>
  db.executeQuery(CompiledQuery.raw(rows.outcome ? writeBoth : writeAudit, requestRowValues(rows)))

const writeAudit = prepareStatement('request_rows', `select ${auditCall(0)}`)
const writeBoth = prepareStatement('request_rows_kept', `select ${auditCall(0)}, ${outcomeCall(0)}`)
