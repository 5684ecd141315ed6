import type { Generated } from 'kysely'
import type { SkippedRecord } from '../../contract/wearables/source-status.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    pull_jobs: {
      team_id: string
      connection_id: string
      feed: string
      user_id: string
      provider: string
      due_at: Optional<Time>
      live_due_at: Time
      live_until: Optional<Time>
      requests: Generated<number>
      history_from: Optional<Time>
      history_to: Optional<Time>
      history_end: Optional<Time>
      history_found: Json<Record<string, { changes: number; days: number }>>
      skipped: Json<SkippedRecord[]>
      tries: Generated<number>
      error: Optional<string>
      last_success_at: Optional<Time>
      lease: Optional<string>
      leased_until: Optional<Time>
    }
    cloud_changes: {
      team_id: string
      connection_id: string
      feed: string
      kind: string
      object_id: string
      user_id: string
      deleted: boolean
      changed_at: Time
      received_at: Time
      window_from: Optional<Time>
      window_to: Optional<Time>
    }
    cloud_clients: {
      team_id: string
      provider: string
      client_hash: Buffer
      blocked_until: Optional<Time>
      quota_limit: Optional<number>
      quota_remaining: Optional<number>
      subscribe_at: Time
      subscribe_error: Optional<string>
    }
  }
}
