import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    sample_days: {
      user_id: string
      team_id: string
      resource: string
      day: string
      provider: string
      source_type: string
      samples: number
      revision: number
      sealed: Buffer
    }
    summaries: {
      id: string
      team_id: string
      user_id: string
      resource: string
      provider: string
      source_type: string
      calendar_date: string
      version: number
      revision: number
      sealed: Buffer
      created_at: Time
      updated_at: Time
    }
    deleted_summaries: { team_id: string; id: string; user_id: string; deleted_at: Time }
    workout_streams: {
      workout_id: string
      team_id: string
      user_id: string
      version: number
      sealed: Buffer
      created_at: Time
      updated_at: Time
    }
    resource_states: {
      user_id: string
      team_id: string
      provider: string
      resource: string
      stage: string
      oldest_data: Optional<Time>
      newest_data: Optional<Time>
      sent_count: number
      last_attempt_at: Time
      last_status: string
    }
    historical_pulls: {
      user_id: string
      team_id: string
      provider: string
      resource: string
      status: string
      range_start: Optional<Time>
      range_end: Optional<Time>
      scheduled_at: Time
      started_at: Optional<Time>
      ended_at: Optional<Time>
      days_with_data: number
      error_details: Optional<string>
      announced: Generated<string[]>
    }
    source_priorities: { team_id: string; data_type: string; provider: string; priority: number }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'summaries', owner: 'user' },
  { ...byId, table: 'workout_streams', key: ['workout_id'], in: ['workout_id'], owner: 'user' },
  {
    table: 'sample_days',
    column: 'sealed',
    key: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    in: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    owner: 'user',
  },
]
