import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    outbox: {
      team_id: string
      seq: Generated<number>
      id: string
      user_id: Optional<string>
      order_id: Optional<string>
      event_type: string
      key: string
      partial: boolean
      sealed: Buffer
      created_at: Time
    }
    events: {
      team_id: string
      no: number
      logged_at: Time
      id: string
      user_id: Optional<string>
      order_id: Optional<string>
      event_type: string
      key: Optional<string>
      deliverable: boolean
      sealed: Buffer | null
      created_at: Time
    }
    event_logs: {
      team_id: string
      last_no: Generated<number>
      last_at: Generated<Time>
      owner: Optional<string>
      due_at: Optional<Time>
      changes: Generated<number>
    }
    log_erasures: { team_id: string; id: string; due_at: Time; first_xid: Optional<number> }
  }
}

export const sealed: SealedColumn[] = [
  // Before the log, to which rows move meanwhile.
  { ...byId, table: 'outbox', as: 'events', key: ['seq'], owner: 'either' },
  { ...byId, table: 'events', key: ['id', 'logged_at'], owner: 'either' },
]
