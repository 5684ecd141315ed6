import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    team_credentials: {
      id: string
      team_id: string
      provider: string
      sealed: Buffer
      redirect_url_override: Optional<string>
      created_at: Time
      updated_at: Time
    }
    scope_requirements: { team_id: string; provider: string; user_must_grant: string[]; user_may_grant: string[] }
    pull_preferences: { team_id: string; provider: string; days: number; overrides: Json<Record<string, number>> }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'team_credentials', owner: 'team' }]
