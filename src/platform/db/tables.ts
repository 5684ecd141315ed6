import type { ColumnType, Generated } from 'kysely'
import type { Plan, Role } from '../../contract/common.ts'
import type { Method } from '../../contract/labs/lifecycle.ts'
import type { Simulation } from '../../contract/labs/orders.ts'
import type { CatalogTables } from './tables/catalog.ts'
import type { ConnectionTables } from './tables/connections.ts'
import type { EventTables } from './tables/events.ts'
import type { PeopleTables } from './tables/people.ts'
import type { WearableTables } from './tables/wearables.ts'

/** Times are ISO text in and out; `open.ts` sets the parsers. */
export type Time = string
/** Written as JSON text, because the driver would turn a list into an SQL array. Read back as the parsed value. */
export type Json<T> = ColumnType<T, string | null | undefined, string | null>
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

type ByRoom = PeopleTables & CatalogTables & EventTables & ConnectionTables & WearableTables

export type Tables = ByRoom & {
  deployment: { one: Generated<boolean>; environment: string; region: string; key_check: Buffer; created_at: Generated<Time> }
  orgs: { id: string; name: string; plan: Plan; expires_at: Optional<Time>; created_at: Generated<Time> }
  teams: {
    id: string
    org_id: string
    name: string
    region: string
    integration_team_id: Optional<string>
    created_on: Time
    deleted_at: Optional<Time>
    erase_at: Optional<Time>
    betas: Generated<string[]>
    clock_offset_ms: Generated<number>
    lab_tests_patient_sms_communication_enabled: boolean
    lab_tests_patient_email_communication_enabled: boolean
    reject_duplicate_connection: boolean
    sdk_per_device_activity_timeseries: boolean
    partial_webhooks_enabled: boolean
    minor_ordering_enabled: boolean
    patient_experience: boolean
    simulator: Generated<'manual' | 'auto'>
    time_zone: Optional<string>
    contact: Buffer
  }
  erased_teams: { id: string; erased_at: Time }
  sealing_keys: { id: string; team_id: string; user_id: Optional<string>; wrapped: Buffer; created_at: Generated<Time> }
  management_keys: {
    id: string
    org_id: string
    label: string
    prefix: string
    hash: Buffer
    role: Role
    created_by: Optional<string>
    created_by_person: Optional<string>
    created_at: Time
    last_used_at: Optional<Time>
    revoked_at: Optional<Time>
  }
  management_key_teams: { key_id: string; team_id: string }
  team_api_keys: {
    id: string
    team_id: string
    label: string
    prefix: string
    hash: Buffer
    read_only: Generated<boolean>
    created_by: Optional<string>
    created_by_person: Optional<string>
    created_at: Time
    expires_at: Optional<Time>
    last_used_at: Optional<Time>
    revoked_at: Optional<Time>
  }
  lab_keys: {
    id: string
    lab_id: number
    label: string
    prefix: string
    hash: Buffer
    created_at: Time
    last_used_at: Optional<Time>
    revoked_at: Optional<Time>
  }
  access_tokens: { hash: Buffer; team_id: string; management_key_id: string; expires_at: Time }
  users: {
    user_id: string
    team_id: string
    client_user_id: string
    created_on: Time
    time_zone: Optional<string>
    time_zone_updated_at: Optional<Time>
    time_zone_source: Optional<string>
    ingestion_start: Optional<Time>
    ingestion_end: Optional<Time>
    deleted_at: Optional<Time>
    erase_at: Optional<Time>
    sealed: Optional<Buffer>
  }
  user_info: { user_id: string; team_id: string; sealed: Buffer; terms: string[]; updated_at: Time }
  user_insurances: {
    id: string
    user_id: string
    team_id: string
    is_primary: boolean
    sealed: Buffer
    created_at: Time
    seq: Generated<number>
  }
  orders: {
    id: string
    team_id: string
    user_id: Optional<string>
    transaction_id: string
    parent_id: Optional<string>
    origin: string
    lab_id: number
    lab_test_id: string
    lab_account_id: Optional<string>
    method: Method
    low_level: string
    last_event: number
    last_event_at: Time
    created_at: Time
    updated_at: Time
    changed_at: Generated<Time>
    registrable: boolean
    zone: string
    activate_by: Optional<string>
    scheduled: boolean
    dispatch_at: Optional<Time>
    sent_at: Optional<Time>
    step_at: Optional<Time>
    simulation: Json<Simulation | null>
    seed: string
    sample_id: Optional<string>
    billing_type: string
    priority: boolean
    has_abn: boolean
    health_insurance_id: Optional<string>
    collected_at: Optional<Time>
    expected_result_by_date: Optional<string>
    worst_case_result_by_date: Optional<string>
    interpretation: Optional<string>
    has_missing_results: Optional<boolean>
    result_version: number
    sealed: Optional<Buffer>
    terms: string[]
  }
  order_events: { order_id: string; id: number; low_level: string; status_detail: Optional<string>; created_at: Time }
  order_images: { order_id: string; name: string; sealed: Buffer }
  results: {
    order_id: string
    version: number
    status: string
    interpretation: string
    digest: Buffer
    sealed: Buffer
    created_at: Time
  }
  idempotency_keys: {
    team_id: string
    operation: string
    key_hash: Buffer
    fingerprint: Buffer
    owner: string
    leased_until: Time
    status: Optional<number>
    sealed: Optional<Buffer>
    user_id: Optional<string>
    created_at: Time
  }
  audit_log: {
    id: string
    at: Time
    org_id: Optional<string>
    team_id: Optional<string>
    actor_kind: string
    actor_id: Optional<string>
    action: string
    subject: Optional<string>
    status: number
    request_id: Optional<string>
    via: Optional<string>
    reason: Optional<Buffer>
    chain_seq: Optional<number>
    chain_hash: Optional<Buffer>
  }
  audit_head: { one: Generated<boolean>; seq: number; mac: Buffer }
}
