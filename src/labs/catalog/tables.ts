import type { Generated, GeneratedAlways } from 'kysely'
import type { CriticalLimits, ReferenceRanges, SimulationParameters } from '../../contract/labs/analyte.ts'
import type { Calendar } from '../../contract/labs/calendars.ts'
import type { AoE } from '../../contract/labs/catalog.ts'
import type { Optional, Time } from '../../platform/db/tables.ts'

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

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
  }
}
