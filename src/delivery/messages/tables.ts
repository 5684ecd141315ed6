import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    messages: {
      team_id: string
      id: string
      user_id: Optional<string>
      order_id: Optional<string>
      kind: string
      status: string
      planned_at: Optional<Time>
      send_at: Optional<Time>
      expires_at: Optional<Time>
      tries: Generated<number>
      error: Optional<string>
      created_at: Time
      sent_at: Optional<Time>
      sealed: Buffer
    }
    message_opt_outs: { team_id: string; user_id: string; created_at: Time }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'messages', owner: 'either' }]
