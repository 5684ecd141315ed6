export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    erasures: { team_id: string; user_id: string; erased_at: Time; record: string; mac: Buffer }
  }
}
