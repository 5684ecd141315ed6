import type { Generated } from 'kysely'
import type { Optional, Time } from '../../platform/db/tables.ts'

type AuditRow = {
  chain_id: string
  id: string
  at: Time
  org_id: Optional<string>
  team_id: Optional<string>
  actor_kind: string
  actor_id: Optional<string>
  action: string
  subject: Optional<string>
  status: number
  request_id: Optional<string>
  via: Optional<string>
  reason: Optional<Buffer>
  mac: Buffer
}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    audit_outbox: AuditRow
    audit_log: AuditRow & { chain_seq: number; chain_hash: Buffer }
    audit_chains: { chain_id: string; seq: number; mac: Buffer; checkpoint_seq: Generated<number> }
    audit_breaks: {
      chain_id: string
      seq: number
      to_seq: number
      reason: string
      row_id: Optional<string>
      found_at: Time
      alerted_at: Optional<Time>
      acknowledged_at: Optional<Time>
      acknowledged_by: Optional<string>
      mac: Optional<Buffer>
    }
    audit_verified: { chain_id: string; seq: number; hash: Buffer; mac: Buffer }
    audit_reviews: { chain_id: string; seq: number; reviewed_at: Time }
  }
}
