import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    users: {
      user_id: string
      team_id: string
      client_user_id: string
      created_on: Time
      time_zone: Optional<string>
      time_zone_updated_at: Optional<Time>
      time_zone_source: Optional<string>
      ingestion_start: Optional<Time>
      ingestion_end: Optional<Time>
      deleted_at: Optional<Time>
      erase_at: Optional<Time>
      sealed: Optional<Buffer>
    }
    user_info: { user_id: string; team_id: string; sealed: Buffer; terms: string[]; updated_at: Time }
    user_insurances: {
      id: string
      user_id: string
      team_id: string
      is_primary: boolean
      sealed: Buffer
      created_at: Time
      written_at: Generated<Time>
    }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'users', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_info', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_insurances', in: ['user_id', 'id'], owner: 'user' },
]
