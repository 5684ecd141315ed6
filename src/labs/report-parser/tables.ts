import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    parsing_jobs: {
      team_id: string
      id: string
      user_id: string
      status: string
      failure_reason: Optional<string>
      needs_human_review: boolean
      due_at: Optional<Time>
      tries: Generated<number>
      created_at: Time
      updated_at: Time
      sealed: Optional<Buffer>
    }
    parsing_shares: { team_id: string; spent_ms: number; spent_at: Time }
    parsing_files: { team_id: string; job_id: string; n: number; user_id: string; sealed: Buffer }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'parsing_jobs', owner: 'user' },
  { ...byId, table: 'parsing_files', key: ['job_id', 'n'], in: ['job_id', 'n'], owner: 'user' },
]
