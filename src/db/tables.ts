import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { CriticalLimits, ReferenceRanges, SimulatedAs } from '../contract/analyte.ts'
import type { AoE } from '../contract/catalog.ts'
import type { PersonRole, Plan, Role } from '../contract/common.ts'
import type { Method } from '../contract/lifecycle.ts'
import type { Simulation } from '../contract/orders.ts'
import type { ConnectionTables } from './tables-connections.ts'
import type { WearableTables } from './tables-wearables.ts'

/** Times are ISO text in and out; `open.ts` sets the parsers. */
export type Time = string
/** Written as JSON text, so that the driver does not take a list for an array of SQL; read as what it was. */
export type Json<T> = ColumnType<T, string | null | undefined, string | null>
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

type ByRoom = ConnectionTables & WearableTables

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
  people: {
    id: string
    org_id: string
    role: PersonRole
    every_team: boolean
    email_hash: Buffer
    sealed: Buffer
    password: string
    totp_step: number
    created_on: Time
    last_sign_in_at: Optional<Time>
  }
  person_teams: { person_id: string; team_id: string }
  recovery_codes: { person_id: string; hash: Buffer }
  invitations: {
    id: string
    org_id: string
    role: PersonRole
    every_team: boolean
    team_ids: string[]
    email_hash: Buffer
    sealed: Buffer
    token_hash: Buffer
    invited_by_kind: string
    invited_by: Optional<string>
    invited_at: Time
    resent_at: Optional<Time>
    expires_at: Time
  }
  console_sessions: {
    id: string
    hash: Buffer
    org_id: string
    management_key_id: Optional<string>
    team_api_key_id: Optional<string>
    person_id: Optional<string>
    created_at: Time
    seen_at: Time
    ends_at: Time
  }
  critical_results: {
    order_id: string
    version: number
    team_id: string
    reported_at: Time
    acknowledged_at: Optional<Time>
    acknowledged_kind: Optional<string>
    acknowledged_by: Optional<string>
  }
  sign_in_turns: { key: Buffer; taken: number; since: Time }
  access_tokens: { hash: Buffer; team_id: string; management_key_id: string; expires_at: Time }
  users: {
    user_id: string
    team_id: string
    client_user_id: string
    created_on: Time
    time_zone: Optional<string>
    time_zone_updated_at: Optional<Time>
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
  payors: {
    payor_code: string
    team_id: Optional<string>
    name: string
    aliases: Generated<string[]>
    org_address: Json<Record<string, unknown> | null>
    provider: Optional<string>
    provider_payor_id: Optional<string>
  }
  icd_codes: { code: string; label: string }
  catalogue: { one: Generated<boolean>; version: string; loaded_at: Time }
  labs: {
    id: number
    slug: string
    name: string
    first_line_address: string
    city: string
    state: string
    zipcode: string
    collection_methods: string[]
    sample_types: string[]
    iana_timezone: string
    clia_number: string
    supports_stat: boolean
    supports_redraw: boolean
    supported_bill_types: string[]
    excluded_states: string[]
    physician_required_states: string[]
    name_rules: Json<Record<string, unknown>>
    interface: string
  }
  analytes: {
    slug: string
    id: number
    name: string
    description: Optional<string>
    loinc: string
    unit: Optional<string>
    result_type: string
    reference_range: Json<ReferenceRanges | null>
    critical: Json<CriticalLimits | null>
    decimals: Optional<number>
    sim: Json<SimulatedAs | null>
    expected_value: Optional<string>
  }
  markers: {
    id: number
    lab_id: number
    provider_id: string
    slug: string
    name: string
    description: Optional<string>
    type: string
    unit: Optional<string>
    price: string
    loinc: Optional<string>
    aoe: Json<AoE | null>
    fasting: boolean
    sample_types: string[]
    a_la_carte_enabled: boolean
    is_orderable: boolean
    common_tat_days: Optional<number>
    worst_case_tat_days: Optional<number>
    expected_results: string[]
  }
  lab_accounts: {
    id: string
    lab_id: number
    org_id: Optional<string>
    status: string
    delegated_flow: string
    provider_account_id: string
    account_name: Optional<string>
    default_clinical_notes: Optional<string>
    business_units: Optional<string[]>
    allowed_billing: Json<Record<string, string[]>>
    created_at: Time
  }
  lab_account_teams: { lab_account_id: string; team_id: string }
  lab_tests: {
    id: string
    team_id: Optional<string>
    lab_id: number
    lab_account_id: Optional<string>
    slug: string
    name: string
    description: string
    method: string
    sample_type: string
    price: number
    fasting: boolean
    auto_generated: Generated<boolean>
    auto_key: Optional<string>
    has_collection_instructions: boolean
    common_tat_days: Optional<number>
    worst_case_tat_days: Optional<number>
    created_at: Time
    updated_at: Time
    approved_at: Optional<Time>
    archived_at: Optional<Time>
    status: GeneratedAlways<string>
  }
  lab_test_markers: { lab_test_id: string; marker_id: number; position: number }
  service_centers: {
    site_code: string
    lab_id: number
    name: string
    first_line: string
    city: string
    state: string
    zip: string
    iana_timezone: string
    lat: number
    lng: number
    capabilities: string[]
  }
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
  }
  webhooks: {
    id: string
    team_id: string
    url: string
    description: string
    filter_types: Optional<string[]>
    rate_limit: Optional<number>
    ordering: 'per_key' | 'strict' | 'unordered'
    sealed: Buffer
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
  pipelines: {
    team_id: string
    push_historical_data: boolean
    preferred: string
    enabled: string[]
    event_type_prefixes: Optional<string[]>
    sealed: Buffer
    revision: Generated<number>
    created_at: Time
    updated_at: Time
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
  lanes: {
    id: GeneratedAlways<number>
    webhook_id: string
    key: string
    passing: boolean
    tail: number
    head: Generated<number>
    attempts: Generated<number>
    run_at: Optional<Time>
    worker: Optional<number>
    lease: Optional<string>
    leased_until: Optional<Time>
    settled_at: Generated<Time>
  }
  ended_lanes: { webhook_id: string; key_hash: Buffer; tail: number }
  deliveries: { lane_id: number; n: number; event_id: string; event_at: Time }
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
