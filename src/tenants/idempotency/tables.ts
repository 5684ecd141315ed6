import type { SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    idempotency_keys: {
      team_id: string
      operation: string
      key_hash: Buffer
      fingerprint: Buffer
      owner: string
      leased_until: Time
      status: Optional<number>
      sealed: Optional<Buffer>
      user_id: Optional<string>
      created_at: Time
    }
  }
}

export const sealed: SealedColumn[] = [
  {
    table: 'idempotency_keys',
    column: 'sealed',
    key: ['operation', 'key_hash'],
    in: ['team_id', 'operation', 'key_hash'],
    owner: 'either',
  },
]
