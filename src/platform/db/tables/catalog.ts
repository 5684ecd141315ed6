import type { Generated, GeneratedAlways } from 'kysely'
import type { CriticalLimits, ReferenceRanges, SimulationParameters } from '../../../contract/labs/analyte.ts'
import type { AoE } from '../../../contract/labs/catalog.ts'
import type { Json, Optional, Time } from '../tables.ts'

/** Payors, labs, and the tests they run. */
export type CatalogTables = {
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
}
