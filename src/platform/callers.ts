import type { RateLimit } from '../contract/tenants/rate-limit.ts'
import type { ConsoleRole } from '../contract/tenants/sessions.ts'

/** A signed-in console user: a person or the holder of a key, with their role. */
export type ConsoleUser = {
  kind: 'management' | 'team' | 'person'
  actor_id: string
  session_id: string
  role: ConsoleRole
  /** The reason given for seeing personal data. Without one, personal data is masked. */
  reason?: string | undefined
  /** The open page sent the request on its own, without a click. */
  background?: true
}

export type TeamCaller = {
  kind: 'team'
  /** The caller sent an access token; `key_id` is the management key that created it. */
  token?: true
  /** The caller sent a user's sign-in token, which is valid for this user only. */
  user_id?: string
  /** The caller signed with the secret of this webhook, which opens the webhook's tickets only; `key_id` is its ID too. */
  webhook_id?: string
  org_id: string
  team_id: string
  key_id: string
  /** The caller has a console session; `key_id` is the key or the person. */
  console?: ConsoleUser
  read_only: boolean
  plan: string
  betas: string[]
  clock_offset_ms: number
  /** Fixed request rates, if the key or the team has one. */
  rate_limits?: { key: RateLimit | null; team: RateLimit | null } | undefined
}

export type ManagementCaller = {
  kind: 'management'
  org_id: string
  /** Null for the operator at the command line, and for a person at the console. */
  key_id: string | null
  console?: ConsoleUser
  plan: string
  /** The teams a Team Management Key is bound to; undefined for an Org Management Key. */
  team_ids: string[] | undefined
}

/** A partner lab. It belongs to no organization and no team. */
export type LabCaller = { kind: 'lab'; lab_id: number; key_id: string }

/** A link token, which connects a source for one user; `key_id` is the token's ID. */
export type LinkCaller = { kind: 'link'; org_id: string; team_id: string; user_id: string; key_id: string; clock_offset_ms: number }

/** A console session itself, for the endpoints that manage it. */
export type SessionCaller = {
  kind: 'session'
  org_id: string
  plan: string
  /** Set for a session that began with a team key. */
  team_id: string | undefined
  team_ids: string[] | undefined
  console: ConsoleUser
}

export type Caller = TeamCaller | ManagementCaller | LabCaller | LinkCaller | SessionCaller
