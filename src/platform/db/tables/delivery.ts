import type { Generated } from 'kysely'
import type { Format } from '../../../contract/delivery/formats.ts'
import type { Optional, Time } from '../tables.ts'

/** The event log, webhooks and pipelines. */
export type DeliveryTables = {
  outbox: {
    team_id: string
    seq: Generated<number>
    id: string
    user_id: Optional<string>
    order_id: Optional<string>
    event_type: string
    key: string
    partial: boolean
    sealed: Buffer
    created_at: Time
  }
  events: {
    team_id: string
    no: number
    logged_at: Time
    id: string
    user_id: Optional<string>
    order_id: Optional<string>
    event_type: string
    key: Optional<string>
    deliverable: boolean
    sealed: Buffer | null
    created_at: Time
  }
  event_logs: {
    team_id: string
    last_no: Generated<number>
    last_at: Generated<Time>
    owner: Optional<string>
    due_at: Optional<Time>
    changes: Generated<number>
  }
  log_erasures: { team_id: string; id: string; due_at: Time; first_xid: Optional<number> }
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
  delivery_formats: { team_id: string; destination: string; after_no: number; format: Format; include_client_user_id: boolean }
  disclosures: {
    team_id: string
    day: string
    destination: string
    receiver: string
    event_type: string
    fields_id: string
    fields: string[]
    count: number
  }
  workers: { id: string; leased_until: Time }
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
