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
const auditTypes = [...['uuid', 'timestamptz', 'uuid', 'uuid', 'text', 'uuid', 'text', 'text', 'smallint', 'text'], ...['text', 'bytea']]
const keptTypes = ['uuid', 'text', 'bytea', 'uuid', 'smallint', 'bytea', 'uuid']

const at = (i: number) => `$${i + 1}`

const call = (name: string, types: string[], first: number) => `${name}(${types.map((type, i) => `${at(first + i)}::${type}`).join(', ')})`

/** A column of the statement's result; `first` is the number of parameters before its own. */
export const auditText = (first: number) => call('append_audit', auditTypes, first)

/** A column of the statement's result; its parameters follow those of the audit row. */
export const keptText = (first: number) => call('keep_outcome', keptTypes, first + auditTypes.length)

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

const writeAudit = prepared('request_rows', `select ${auditText(0)}`)
const writeBoth = prepared('request_rows_kept', `select ${auditText(0)}, ${keptText(0)}`)
