import type { Generated } from 'kysely'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    link_tokens: {
      id: string
      hash: Buffer
      team_id: string
      user_id: string
      provider: Optional<string>
      filter_on_providers: Optional<string[]>
      redirect_url: Optional<string>
      on_error: boolean
      on_close: boolean
      created_at: Time
      expires_at: Time
      consumed_at: Optional<Time>
      mfa_provider: Optional<string>
      mfa_tries: Generated<number>
      mfa_sealed: Optional<Buffer>
      key_id: string
    }
    oauth_flows: {
      state_hash: Buffer
      team_id: string
      link_token_id: string
      provider: string
      browser_hash: Optional<Buffer>
      redirect_uri: string
      scopes: string[]
      expires_at: Time
      region: Optional<string>
    }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'link_tokens', column: 'mfa_sealed', owner: 'user' }]
