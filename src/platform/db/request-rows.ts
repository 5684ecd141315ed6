import { CompiledQuery, type Insertable } from 'kysely'
import { type Db, prepared } from './open.ts'
import type { Tables } from './tables.ts'

type Audit = Omit<Insertable<Tables['audit_log']>, 'chain_seq' | 'chain_hash'>
type Kept = { team_id: string; operation: string; key_hash: Buffer; owner: string; status: number; sealed: Buffer; user_id: string | null }

/** The rows that a request commits together with its action: its audit row, and its outcome where an idempotency key keeps it. */
export type RequestRows = { audit: Audit; kept?: Kept | undefined }

export const auditColumns = [
  ...(['id', 'at', 'org_id', 'team_id', 'actor_kind', 'actor_id', 'action', 'subject', 'status', 'request_id'] as const),
  ...(['via', 'reason'] as const),
]
const keptTypes = ['uuid', 'text', 'bytea', 'uuid', 'smallint', 'bytea', 'uuid']

const at = (i: number) => `$${i + 1}`

/** A part of a `with`; `first` is the number of parameters before its own. */
export const auditText = (first: number) =>
  `audited as (insert into audit_log (${auditColumns.join(', ')}) values (${auditColumns.map((_, i) => at(first + i)).join(', ')}))`

/** A result column of the statement; its parameters follow those of the audit row. */
export const keptText = (first: number) =>
  `keep_outcome(${keptTypes.map((type, i) => `${at(first + auditColumns.length + i)}::${type}`).join(', ')})`

export const requestRowValues = ({ audit, kept }: RequestRows): unknown[] => [
  ...auditColumns.map((column) => audit[column]),
  ...(kept ? [kept.team_id, kept.operation, kept.key_hash, kept.owner, kept.status, kept.sealed, kept.user_id] : []),
]

const LOST_LEASE = 'AS001'

/** The outcome could not be kept, because another request holds the idempotency key by now. */
export const isLostLease = (error: unknown) => (error as { code?: string }).code === LOST_LEASE

/** Writes the rows in an open transaction, for actions that do not write them in a statement of their own. */
export const writeRequestRows = (db: Db, rows: RequestRows) =>
  db.executeQuery(CompiledQuery.raw(rows.kept ? writeBoth : writeAudit, requestRowValues(rows)))

const writeAudit = prepared('request_rows', `with ${auditText(0)} select`)
const writeBoth = prepared('request_rows_kept', `with ${auditText(0)} select ${keptText(0)}`)
