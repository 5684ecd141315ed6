export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    physicians: { team_id: string; npi: string; sealed: Buffer; updated_at: Time }
  }
}
