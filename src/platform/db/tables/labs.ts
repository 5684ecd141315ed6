import type { Generated, GeneratedAlways } from 'kysely'
import type { CriticalLimits, ReferenceRanges, SimulationParameters } from '../../../contract/labs/analyte.ts'
import type { Calendar } from '../../../contract/labs/calendars.ts'
import type { AoE } from '../../../contract/labs/catalog.ts'
import type { Method } from '../../../contract/labs/lifecycle.ts'
import type { UnmatchedResultTestRun } from '../../../contract/labs/match-review.ts'
import type { Simulation } from '../../../contract/labs/orders.ts'
import type { Json, Optional, Time } from '../tables.ts'

/** A test of the catalog, or of a team. */
type LabTestTable = {
  id: string
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
  marker_ids: number[]
  has_collection_instructions: boolean
  common_tat_days: Optional<number>
  worst_case_tat_days: Optional<number>
  created_at: Time
  updated_at: Time
  approved_at: Optional<Time>
  archived_at: Optional<Time>
  status: GeneratedAlways<string>
}

/** The catalog, lab accounts, orders and results. */
export type LabTables = {
  catalog: { one: Generated<boolean>; version: string; loaded_at: Time }
  labs: {
    id: number
    slug: string
    aliases: Generated<string[]>
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
    sim: Json<SimulationParameters | null>
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
  lab_tests: LabTestTable
  team_lab_tests: LabTestTable & { team_id: string; auto_key: Optional<string> }
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
    phone_number: Optional<string>
    hours: Json<Calendar['hours'] | null>
  }
  phlebotomy_areas: { zip: string; provider: string; state: string; tier: string; iana_timezone: string }
  zip_codes: { zip: string; lat: number; lng: number }
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
  lab_messages: {
    team_id: string
    id: string
    order_id: string
    lab_id: number
    direction: 'out' | 'in'
    kind: string
    control_id: string
    state: string
    queued_at: Time
    position: number
    attempts: Generated<number>
    due_at: Optional<Time>
    answer_code: Optional<string>
    order_control: Optional<string>
    answered_at: Optional<Time>
    error: Optional<string>
    failed_at: Optional<Time>
    sealed: Buffer
    answer_sealed: Optional<Buffer>
  }
  lab_inbox: {
    lab_id: number
    control_id: string
    type: string
    state: string
    received_at: Time
    position: number
    attempts: Generated<number>
    due_at: Optional<Time>
    error: Optional<string>
    digest: Buffer
    sealed: Optional<Buffer>
    answer_sealed: Buffer
  }
  lab_links: { lab_id: number; task: string; holder: string; held_until: Time; failed_at: Optional<Time>; error: Optional<string> }
  lab_samples: { lab_id: number; sample_id: string; team_id: string; order_id: string }
  lab_fillers: { lab_id: number; filler_number: string; sample_id: string; team_id: string; order_id: string }
  order_events: { team_id: string; order_id: string; id: number; low_level: string; status_detail: Optional<string>; created_at: Time }
  order_images: { team_id: string; order_id: string; name: string; sealed: Buffer }
  results: {
    team_id: string
    order_id: string
    version: number
    status: string
    interpretation: string
    digest: Buffer
    sealed: Buffer
    created_at: Time
  }
  result_documents: { team_id: string; order_id: string; version: number; n: number; sealed: Buffer }
  unmatched_results: {
    team_id: string
    id: string
    lab_id: number
    user_id: Optional<string>
    order_id: Optional<string>
    status: string
    decision_code: string
    sub_reason_codes: string[]
    result_status: string
    interpretation: string
    resolution_action: Optional<string>
    message_ref: string
    digest: Buffer
    sealed: Buffer
    documents_sealed: Optional<Buffer>
    terms: string[]
    created_at: Time
    updated_at: Time
    reviewed_at: Optional<Time>
  }
  unassigned_results: {
    id: string
    lab_id: number
    result_status: string
    interpretation: string
    message_ref: string
    digest: Buffer
    sealed: Buffer
    documents_sealed: Optional<Buffer>
    summary_sealed: Buffer
    created_at: Time
    assigned_at: Optional<Time>
    assigned_team_id: Optional<string>
  }
  unmatched_result_tests: {
    team_id: string
    id: string
    run: Json<UnmatchedResultTestRun>
    created_at: Time
  }
  parsing_jobs: {
    team_id: string
    id: string
    user_id: string
    status: string
    failure_reason: Optional<string>
    needs_human_review: boolean
    due_at: Optional<Time>
    tries: Generated<number>
    created_at: Time
    updated_at: Time
    sealed: Optional<Buffer>
  }
  parsing_shares: { team_id: string; spent_ms: number; spent_at: Time }
  parsing_files: { team_id: string; job_id: string; n: number; user_id: string; sealed: Buffer }
  critical_results: {
    order_id: string
    version: number
    team_id: string
    reported_at: Time
    acknowledged_at: Optional<Time>
    acknowledged_kind: Optional<string>
    acknowledged_by: Optional<string>
    acknowledged_version: Optional<number>
    sealed: Optional<Buffer>
    escalate_at: Optional<Time>
    escalations: Generated<number>
    escalated_at: Optional<Time>
  }
}
