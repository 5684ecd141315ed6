import type { PersonRole } from '../../contract/common.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    people: {
      id: string
      org_id: string
      role: PersonRole
      every_team: boolean
      email_hash: Buffer
      sealed: Buffer
      password: string
      totp_step: number
      sso_subject: Optional<Buffer>
      created_on: Time
      last_sign_in_at: Optional<Time>
    }
    person_teams: { person_id: string; team_id: string }
    recovery_codes: { person_id: string; hash: Buffer }
    invitations: {
      id: string
      org_id: string
      role: PersonRole
      every_team: boolean
      team_ids: string[]
      email_hash: Buffer
      sealed: Buffer
      token_hash: Buffer
      invited_by_kind: string
      invited_by: Optional<string>
      invited_at: Time
      resent_at: Optional<Time>
      expires_at: Time
    }
    console_sessions: {
      id: string
      hash: Buffer
      org_id: string
      management_key_id: Optional<string>
      team_id: Optional<string>
      team_api_key_id: Optional<string>
      person_id: Optional<string>
      created_at: Time
      seen_at: Time
      ends_at: Time
    }
    sign_in_attempts: { key: Buffer; count: number; since: Time }
  }
}
