import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    connections: {
      id: string
      team_id: string
      user_id: string
      provider: string
      kind: string
      status: Generated<string>
      error_type: Optional<string>
      error_message: Optional<string>
      errored_at: Optional<Time>
      account_hash: Optional<Buffer>
      sealed: Buffer
      expires_at: Optional<Time>
      created_at: Time
      updated_at: Time
      renewing_until: Optional<Time>
      ended_at: Optional<Time>
      deregister_tries: Generated<number>
      deregister_at: Optional<Time>
      pull_tries: Generated<number>
      pull_due_at: Optional<Time>
    }
    devices: {
      id: string
      team_id: string
      user_id: string
      provider: string
      source_type: string
      fingerprint: Buffer
      sealed: Buffer
      created_at: Time
      updated_at: Time
    }
    refreshes: { team_id: string; user_id: string; id: string; at: Time }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'connections', owner: 'user' },
  { ...byId, table: 'devices', owner: 'user' },
]
