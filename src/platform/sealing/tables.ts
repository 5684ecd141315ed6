import type { Generated } from 'kysely'
import { byId, type SealedColumn } from './rings/columns.ts'

declare module '../db/tables.ts' {
  interface Tables {
    root_keys: {
      version: number
      id: string
      wrapped: Buffer
      wrapped_by: string
      created_at: Generated<Time>
      active_at: Optional<Time>
      retired_at: Optional<Time>
    }
    sealing_keys: {
      team_id: string
      id: string
      user_id: Optional<string>
      wrapped: Buffer
      created_at: Generated<Time>
      phase: Optional<'prepared' | 'active' | 'resealed'>
      phase_at: Optional<Time>
    }
    team_epochs: {
      team_id: string
      id: string
      wrapped: Optional<Buffer>
      created_at: Time
      prepared_at: Optional<Time>
      active_at: Optional<Time>
      complete_at: Optional<Time>
      retired_at: Optional<Time>
      destroyed_at: Optional<Time>
    }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'sealing_keys', column: 'wrapped', in: ['team_id', 'user_id', 'id'], owner: 'team' },
  { ...byId, table: 'team_epochs', column: 'wrapped', in: ['team_id', 'id'], owner: 'team' },
]
