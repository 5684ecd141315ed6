export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    access_tokens: { hash: Buffer; team_id: string; management_key_id: string; expires_at: Time }
    user_tokens: { hash: Buffer; team_id: string; user_id: string; key_id: string; expires_at: Time }
  }
}
