export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
  }
}
