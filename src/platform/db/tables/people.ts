import type { PersonRole } from '../../../contract/common.ts'
import type { Optional, Time } from '../tables.ts'

/** The staff of organizations and their console sessions. */
export type PeopleTables = {
  people: {
    id: string
    org_id: string
    role: PersonRole
    every_team: boolean
    email_hash: Buffer
    sealed: Buffer
    password: string
    totp_step: number
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
    team_api_key_id: Optional<string>
    person_id: Optional<string>
    created_at: Time
    seen_at: Time
    ends_at: Time
  }
  critical_results: {
    order_id: string
    version: number
    team_id: string
    reported_at: Time
    acknowledged_at: Optional<Time>
    acknowledged_kind: Optional<string>
    acknowledged_by: Optional<string>
  }
  sign_in_turns: { key: Buffer; taken: number; since: Time }
}
