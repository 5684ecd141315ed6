import type { Generated } from 'kysely'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    deployment: { one: Generated<boolean>; environment: string; region: string; key_check: Buffer; created_at: Generated<Time> }
  }
}
