import type { Generated } from 'kysely'
import type { Optional, Time } from '../tables.ts'

/** The event log, webhooks and pipelines. */
export type DeliveryTables = {
  events: {
    id: string
    logged_at: Generated<Time>
    seq: Generated<number>
    no: Optional<number>
    team_id: string
    user_id: Optional<string>
    order_id: Optional<string>
    event_type: string
    key: string
    partial: boolean
    sealed: Buffer
    created_at: Time
    strict_ids: Optional<string[]>
  }
  event_logs: { team_id: string; last_no: number; complete_before: Optional<Time> }
  webhooks: {
    id: string
    team_id: string
    url: string
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
    tokens: Generated<number>
    tokens_at: Generated<Time>
    deleted_at: Optional<Time>
  }
  workers: { id: string; leased_until: Time }
  lanes: {
    team_id: string
    /** Text in the code, because IDs in a Citus cluster can exceed the safe integers of JavaScript. */
    id: Generated<string>
    webhook_id: string
    key: string
    single_use: boolean
    tail: number
    head: Generated<number>
    attempts: Generated<number>
    run_at: Optional<Time>
    worker: Optional<string>
    lease: Optional<string>
    settled_at: Generated<Time>
  }
  ended_lanes: { team_id: string; webhook_id: string; key_hash: Buffer; tail: number }
  deliveries: { team_id: string; lane_id: string; n: number; event_id: string; event_at: Time }
  attempts: {
    id: string
    at: Time
    team_id: string
    webhook_id: string
    user_id: Optional<string>
    event_id: string
    event_at: Time
    event_type: string
    key: string
    n: number
    attempt: number
    outcome: string
    status: Optional<number>
    error: Optional<string>
    ms: number
    next_at: Optional<Time>
    sealed: Buffer
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
    revision: Generated<number>
    created_at: Time
    after_no: number
    delivered: Generated<number>
    last_delivered_at: Optional<Time>
    failures: Generated<number>
    first_failure_at: Optional<Time>
    last_failure_at: Optional<Time>
    last_error: Optional<string>
    retry_at: Optional<Time>
    holder: Optional<string>
    leased_until: Optional<Time>
  }
  messages: {
    team_id: string
    id: string
    user_id: Optional<string>
    order_id: Optional<string>
    kind: string
    status: string
    planned_at: Optional<Time>
    send_at: Optional<Time>
    expires_at: Optional<Time>
    tries: Generated<number>
    error: Optional<string>
    created_at: Time
    sent_at: Optional<Time>
    sealed: Buffer
  }
  message_opt_outs: { team_id: string; user_id: string; created_at: Time }
}
