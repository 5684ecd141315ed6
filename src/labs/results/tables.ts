import type { Generated } from 'kysely'
import type { SealedColumn } from '../../platform/sealing/rings/columns.ts'

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

const byVersion = {
  column: 'sealed',
  key: ['order_id', 'version'],
  in: ['order_id', 'version'],
  owner: 'user',
  through: { column: 'order_id', table: 'orders' },
} as const

export const sealed: SealedColumn[] = [
  { ...byVersion, table: 'results' },
  { ...byVersion, table: 'result_documents', key: ['order_id', 'version', 'n'], in: ['order_id', 'version', 'n'] },
  { ...byVersion, table: 'critical_results' },
]
