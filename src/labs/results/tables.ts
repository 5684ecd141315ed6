import type { Generated } from 'kysely'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    results: {
      team_id: string
      order_id: string
      version: number
      status: string
      interpretation: string
      digest: Buffer
      sealed: Buffer
      created_at: Time
    }
    result_documents: { team_id: string; order_id: string; version: number; n: number; sealed: Buffer }
    critical_results: {
      order_id: string
      version: number
      team_id: string
      reported_at: Time
      acknowledged_at: Optional<Time>
      acknowledged_kind: Optional<string>
      acknowledged_by: Optional<string>
      acknowledged_version: Optional<number>
      sealed: Optional<Buffer>
      escalate_at: Optional<Time>
      escalations: Generated<number>
      escalated_at: Optional<Time>
    }
  }
}
