import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    bulk_ops: {
      id: string
      team_id: string
      type: string
      provider: string
      status: Generated<string>
      unknown: string[]
      total: number
      started_at: Time
      ended_at: Optional<Time>
    }
    bulk_items: {
      op_id: string
      n: number
      team_id: string
      user_id: string
      state: Generated<string>
      sealed: Optional<Buffer>
      claimed_until: Optional<Time>
    }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'bulk_items', key: ['op_id', 'n'], in: ['op_id', 'n'], owner: 'user' }]
