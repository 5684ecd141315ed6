import type { Generated } from 'kysely'

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
  }
}
