import type { Generated } from 'kysely'
import type { SkippedRecord } from '../../../contract/wearables/source-status.ts'
import type { Json, Optional, Time } from '../tables.ts'

/** Connections to sources, and the data from them. */
export type WearableTables = {
  connections: {
    id: string
    team_id: string
    user_id: string
    provider: string
    kind: string
    status: Generated<string>
    error_type: Optional<string>
    error_message: Optional<string>
    errored_at: Optional<Time>
    account_hash: Optional<Buffer>
    sealed: Buffer
    expires_at: Optional<Time>
    created_at: Time
    updated_at: Time
    renewing_until: Optional<Time>
    ended_at: Optional<Time>
    deregister_tries: Generated<number>
    deregister_at: Optional<Time>
    pull_tries: Generated<number>
    pull_due_at: Optional<Time>
  }
  devices: {
    id: string
    team_id: string
    user_id: string
    provider: string
    source_type: string
    fingerprint: Buffer
    sealed: Buffer
    created_at: Time
    updated_at: Time
  }
  refreshes: { team_id: string; user_id: string; id: string; at: Time }
  bulk_ops: {
    id: string
    team_id: string
    type: string
    provider: string
    status: Generated<string>
    unknown: string[]
    total: number
    started_at: Time
    ended_at: Optional<Time>
  }
  bulk_items: {
    op_id: string
    n: number
    team_id: string
    user_id: string
    state: Generated<string>
    sealed: Optional<Buffer>
    claimed_until: Optional<Time>
  }
  link_tokens: {
    id: string
    hash: Buffer
    team_id: string
    user_id: string
    provider: Optional<string>
    filter_on_providers: Optional<string[]>
    redirect_url: Optional<string>
    on_error: boolean
    on_close: boolean
    created_at: Time
    expires_at: Time
    consumed_at: Optional<Time>
    mfa_provider: Optional<string>
    mfa_tries: Generated<number>
    mfa_sealed: Optional<Buffer>
    key_id: string
  }
  oauth_flows: {
    state_hash: Buffer
    team_id: string
    link_token_id: string
    provider: string
    browser_hash: Optional<Buffer>
    redirect_uri: string
    scopes: string[]
    expires_at: Time
    region: Optional<string>
  }
  team_credentials: {
    id: string
    team_id: string
    provider: string
    sealed: Buffer
    redirect_url_override: Optional<string>
    created_at: Time
    updated_at: Time
  }
  scope_requirements: { team_id: string; provider: string; user_must_grant: string[]; user_may_grant: string[] }
  pull_preferences: { team_id: string; provider: string; days: number; overrides: Json<Record<string, number>> }
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
  source_priorities: { team_id: string; data_type: string; provider: string; priority: number }
}
