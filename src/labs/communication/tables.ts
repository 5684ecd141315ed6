export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    communication_settings: {
      team_id: string
      order_id: string
      sms_enabled: boolean
      email_enabled: Optional<boolean>
      language: Optional<string>
      updated_at: Time
    }
  }
}
