import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    pipelines: {
      team_id: string
      push_historical_data: boolean
      preferred: string
      enabled: string[]
      event_type_prefixes: Optional<string[]>
      created_at: Time
      updated_at: Time
    }
    pipeline_destinations: {
      team_id: string
      destination: string
      sealed: Buffer
      created_at: Time
      after_no: number
      after_at: Time
      delivered: Generated<number>
      last_delivered_at: Optional<Time>
      failures: Generated<number>
      first_failure_at: Optional<Time>
      last_failure_at: Optional<Time>
      last_error: Optional<string>
      retry_at: Optional<Time>
      term: Generated<number>
    }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'pipeline_destinations', key: ['destination'], in: ['team_id', 'destination'], owner: 'team' },
]
