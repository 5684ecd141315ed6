import type { Insertable } from 'kysely'
import type { Tables } from './tables.ts'

type Audit = Omit<Insertable<Tables['audit_log']>, 'chain_seq' | 'chain_hash'>
type Kept = { team_id: string; operation: string; key_hash: Buffer; owner: string; status: number; sealed: Buffer; user_id: string | null }

/** What a request commits together with the one statement of its action: its audit row, and its outcome where that is kept. */
export type RequestRows = { audit: Audit; kept?: Kept | undefined }

export const auditColumns = [
  ...(['id', 'at', 'org_id', 'team_id', 'actor_kind', 'actor_id', 'action', 'subject', 'status', 'request_id'] as const),
  ...(['via', 'reason'] as const),
]
const keptTypes = ['uuid', 'text', 'bytea', 'uuid', 'smallint', 'bytea', 'uuid']

const at = (i: number) => `$${i + 1}`

/** A part of a `with`; `first` is how many parameters stand before its own. */
export const auditText = (first: number) =>
  `audited as (insert into audit_log (${auditColumns.join(', ')}) values (${auditColumns.map((_, i) => at(first + i)).join(', ')}))`

/** A column of the statement's answer; its parameters follow those of the audit row. */
export const keptText = (first: number) =>
  `keep_outcome(${keptTypes.map((type, i) => `${at(first + auditColumns.length + i)}::${type}`).join(', ')})`

export const requestRowValues = ({ audit, kept }: RequestRows): unknown[] => [
  ...auditColumns.map((column) => audit[column]),
  ...(kept ? [kept.team_id, kept.operation, kept.key_hash, kept.owner, kept.status, kept.sealed, kept.user_id] : []),
]

const LOST_TURN = 'AS001'

/** The outcome could not be kept, because somebody else has the turn by now. */
export const isLostTurn = (error: unknown) => (error as { code?: string }).code === LOST_TURN
