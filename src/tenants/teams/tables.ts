import type { Generated } from 'kysely'
import type { Plan } from '../../contract/common.ts'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
    erased_teams: { id: string; org_id: string; erased_at: Time }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'teams', column: 'contact', owner: 'team', team: 'id' }]
