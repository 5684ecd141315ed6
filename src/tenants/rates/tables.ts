export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    rate_buckets: { team_id: string; subject_id: string; tokens: number; granted: number; at: Time }
  }
}
