export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
