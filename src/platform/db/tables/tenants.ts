import type { Generated } from 'kysely'
import type { PersonRole, Plan, Role } from '../../../contract/common.ts'
import type { RateLimit } from '../../../contract/tenants/rate-limit.ts'
import type { Json, Optional, Time } from '../tables.ts'

/** Organizations, teams, keys, people, users and the audit log. */
export type TenantTables = {
  sealing_keys: {
    team_id: string
    id: string
    user_id: Optional<string>
    wrapped: Buffer
    created_at: Generated<Time>
    phase: Optional<'prepared' | 'active' | 'resealed'>
    phase_at: Optional<Time>
  }
  team_epochs: {
    team_id: string
    id: string
    wrapped: Optional<Buffer>
    created_at: Time
    prepared_at: Optional<Time>
    active_at: Optional<Time>
    complete_at: Optional<Time>
    retired_at: Optional<Time>
    destroyed_at: Optional<Time>
  }
  erasures: { team_id: string; user_id: string; erased_at: Time; record: string; mac: Buffer }
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
    booking_before_requisition: Generated<boolean>
    strict_enums: Generated<boolean>
    patient_experience: boolean
    simulator: Generated<'manual' | 'auto'>
    time_zone: Optional<string>
    patient_language: Generated<string>
    critical_escalation_minutes: Generated<number[]>
    contact: Buffer
    rate_limit: Json<RateLimit | null>
  }
  rate_buckets: { team_id: string; subject_id: string; tokens: number; granted: number; at: Time }
  erased_teams: { id: string; org_id: string; erased_at: Time }
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
    expires_at: Optional<Time>
    last_used_at: Optional<Time>
    revoked_at: Optional<Time>
    successor_id: Optional<string>
  }
  management_key_teams: { key_id: string; team_id: string }
  team_api_keys: {
    id: string
    team_id: string
    label: string
    prefix: string
    read_only: Generated<boolean>
    created_by: Optional<string>
    created_by_person: Optional<string>
    created_at: Time
    expires_at: Optional<Time>
    last_used_at: Optional<Time>
    revoked_at: Optional<Time>
    successor_id: Optional<string>
    rate_limit: Json<RateLimit | null>
  }
  team_api_key_hashes: { hash: Buffer; team_id: string; key_id: string }
  access_tokens: { hash: Buffer; team_id: string; management_key_id: string; expires_at: Time }
  user_tokens: { hash: Buffer; team_id: string; user_id: string; key_id: string; expires_at: Time }
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
    sso_subject: Optional<Buffer>
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
    team_id: Optional<string>
    team_api_key_id: Optional<string>
    person_id: Optional<string>
    created_at: Time
    seen_at: Time
    ends_at: Time
  }
  sign_in_attempts: { key: Buffer; count: number; since: Time }
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
    written_at: Generated<Time>
  }
  payors: { payor_code: string; name: string; aliases: Generated<string[]> }
  team_payors: {
    team_id: string
    payor_code: string
    name: string
    aliases: Generated<string[]>
    org_address: Json<Record<string, unknown> | null>
    provider: Optional<string>
    provider_payor_id: Optional<string>
  }
  icd_codes: { code: string; label: string }
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
  audit_outbox: AuditRow
  audit_log: AuditRow & { chain_seq: number; chain_hash: Buffer }
  audit_chains: { chain_id: string; seq: number; mac: Buffer; checkpoint_seq: Generated<number> }
  audit_breaks: {
    chain_id: string
    seq: number
    to_seq: number
    reason: string
    row_id: Optional<string>
    found_at: Time
    alerted_at: Optional<Time>
    acknowledged_at: Optional<Time>
    acknowledged_by: Optional<string>
    mac: Optional<Buffer>
  }
  audit_verified: { chain_id: string; seq: number; hash: Buffer; mac: Buffer }
  audit_reviews: { chain_id: string; seq: number; reviewed_at: Time }
}

type AuditRow = {
  chain_id: string
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
  mac: Buffer
}
