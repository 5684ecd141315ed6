import type { Generated } from 'kysely'
import type { Format } from '../../contract/delivery/formats.ts'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    webhooks: {
      id: string
      team_id: string
      description: string
      filter_types: Optional<string[]>
      rate_limit: Optional<number>
      ordering: 'per_key' | 'strict' | 'unordered'
      sealed: Buffer
      revision: Generated<number>
      created_at: Time
      updated_at: Time
      disabled_at: Optional<Time>
      disabled_because: Optional<string>
      inbox: Generated<boolean>
      failures: Generated<number>
      trips: Generated<number>
      paused_until: Optional<Time>
      first_failure_at: Optional<Time>
      last_failure_at: Optional<Time>
      clock_started_at: Optional<Time>
    }
    webhook_cursors: {
      team_id: string
      webhook_id: string
      after_no: number
      after_at: Time
      last_no: Optional<number>
      done: Generated<number[]>
      attempts: Generated<number>
      retry_at: Optional<Time>
      term: Generated<number>
      flush: Generated<number>
    }
    webhook_filters: {
      team_id: string
      webhook_id: string
      upto_no: number
      filter_types: Optional<string[]>
      ordering: 'per_key' | 'strict' | 'unordered'
    }
    parked: { team_id: string; webhook_id: string; key: string; attempts: number; retry_at: Time }
    parked_messages: {
      team_id: string
      webhook_id: string
      key: string
      no: number
      logged_at: Time
      previous: Optional<number>
      format: Optional<Format>
    }
    attempts: {
      id: string
      at: Time
      team_id: string
      webhook_id: string
      user_id: Optional<string>
      event_id: string
      event_at: Optional<Time>
      no: Optional<number>
      previous: Optional<number>
      event_type: string
      key: Optional<string>
      attempt: number
      outcome: string
      status: Optional<number>
      error: Optional<string>
      ms: number
      next_at: Optional<Time>
      sealed: Buffer | null
    }
    webhook_jobs: {
      id: string
      team_id: string
      webhook_id: string
      kind: 'recover' | 'replay'
      state: Generated<'running' | 'done' | 'stopped' | 'failed'>
      window_from: Time
      window_to: Time
      event_types: Optional<string[]>
      after_at: Optional<Time>
      after_id: Optional<string>
      after_no: Generated<number>
      decided: Generated<number[]>
      counted: Generated<boolean>
      total: Optional<number>
      done: Generated<number>
      sent: Generated<number>
      failures: Generated<number>
      created_at: Time
      updated_at: Time
    }
    inbox_messages: {
      id: string
      webhook_id: string
      team_id: string
      user_id: Optional<string>
      received_at: Time
      verdict: string
      sealed: Buffer
    }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'webhooks', owner: 'team' },
  { ...byId, table: 'attempts', key: ['webhook_id', 'at', 'id'], owner: 'either' },
  { ...byId, table: 'inbox_messages', owner: 'either' },
]
