export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    workers: { id: string; leased_until: Time }
  }
}
