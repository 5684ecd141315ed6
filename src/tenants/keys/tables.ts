import type { Generated } from 'kysely'
import type { Role } from '../../contract/common.ts'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    management_keys: {
      id: string
      org_id: string
      label: string
      prefix: string
      hash: Buffer
      role: Role
      created_by: Optional<string>
      created_by_person: Optional<string>
      created_at: Time
      expires_at: Optional<Time>
      last_used_at: Optional<Time>
      revoked_at: Optional<Time>
      successor_id: Optional<string>
    }
    management_key_teams: { key_id: string; team_id: string }
    team_api_keys: {
      id: string
      team_id: string
      label: string
      prefix: string
      read_only: Generated<boolean>
      created_by: Optional<string>
      created_by_person: Optional<string>
      created_at: Time
      expires_at: Optional<Time>
      last_used_at: Optional<Time>
      revoked_at: Optional<Time>
      successor_id: Optional<string>
      rate_limit: Json<RateLimit | null>
    }
    team_api_key_hashes: { hash: Buffer; team_id: string; key_id: string }
    lab_keys: {
      id: string
      lab_id: number
      label: string
      prefix: string
      hash: Buffer
      created_at: Time
      last_used_at: Optional<Time>
      revoked_at: Optional<Time>
    }
  }
}
