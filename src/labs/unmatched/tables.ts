import type { UnmatchedResultTestRun } from '../../contract/labs/match-review.ts'
import { byId, type DeploymentColumn, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    unmatched_results: {
      team_id: string
      id: string
      lab_id: number
      user_id: Optional<string>
      order_id: Optional<string>
      status: string
      decision_code: string
      sub_reason_codes: string[]
      result_status: string
      interpretation: string
      resolution_action: Optional<string>
      message_ref: string
      digest: Buffer
      sealed: Buffer
      documents_sealed: Optional<Buffer>
      terms: string[]
      created_at: Time
      updated_at: Time
      reviewed_at: Optional<Time>
    }
    unassigned_results: {
      id: string
      lab_id: number
      result_status: string
      interpretation: string
      message_ref: string
      digest: Buffer
      sealed: Buffer
      documents_sealed: Optional<Buffer>
      summary_sealed: Buffer
      created_at: Time
      assigned_at: Optional<Time>
      assigned_team_id: Optional<string>
    }
    unmatched_result_tests: {
      team_id: string
      id: string
      run: Json<UnmatchedResultTestRun>
      created_at: Time
    }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'unmatched_results', owner: 'either' },
  { ...byId, table: 'unmatched_results', column: 'documents_sealed', owner: 'either' },
]

/** The purpose of the key that encrypts results without a team. */
export const UNASSIGNED_KEY = 'results without a team'
const unassigned = { table: 'unassigned_results', key: ['id'], purpose: UNASSIGNED_KEY } as const

export const sealedByDeployment: DeploymentColumn[] = [
  { ...unassigned, column: 'sealed' },
  { ...unassigned, column: 'documents_sealed' },
  { ...unassigned, column: 'summary_sealed' },
]
