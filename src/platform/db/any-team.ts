import { sql } from 'kysely'

/** Reads: work that is then handled per team, and lists across the teams of an organization or a deployment. */
const reads = [
  'an account in the teams of an application',
  'appointments that change',
  'audit chains',
  'backup',
  'bulk operations in progress',
  'connections to deregister',
  'connections to pause',
  'credentials of an organization',
  'critical results',
  'critical results to escalate',
  'destinations of listed pipelines',
  'due feeds',
  'due feeds in turn',
  'due pulls',
  'due subscriptions',
  'epochs of teams',
  'feeds by source',
  'kits that are overdue',
  'lab messages by control ID',
  'lab messages of a lab',
  'lab messages to send',
  'lab tests with the IDs of the catalog',
  'occupied time of shared calendars',
  'lab reports to parse',
  'logs with work',
  'messages to send',
  'orders of a lab',
  'orders to dispatch',
  'pending lab tests',
  'pending messages by webhook',
  'pipelines of an organization',
  'planned messages',
  'positions of destinations',
  'pull preferences of teams',
  'quotas by source',
  'recover and replay jobs to continue',
  'simulated steps',
  'team API keys of an organization',
  'team keys of earlier roots',
  'team of a webhook',
  'teams of API keys',
  'teams that share an application',
  'teams with connections to a source',
  'teams with expired events',
  'teams with keys to rotate',
  'teams with pull preferences',
  'teams with users to erase',
  'teams with webhooks',
  'the largest teams',
  'the team of a lab test',
  'the team of a user',
  'unlinked audit rows',
  'unmatched results to review',
  'users and teams to erase from logs',
  'webhook URLs',
  'what a worker owns',
] as const

/** Deletes of old rows. */
export const prunings = [
  'ended recover and replay jobs',
  'expired OAuth flows',
  'expired access tokens',
  'expired attempts',
  'expired events',
  'expired inbox messages',
  'expired link tokens',
  'expired messages',
  'expired user tokens',
  'old bulk operations',
  'old disclosures',
  'old idempotency keys',
] as const

type Purpose = (typeof reads)[number] | (typeof prunings)[number]

/**
 * Marks a statement that is not about one team. Every other statement names its team for each table that it touches; the
 * test run fails otherwise.
 */
export const anyTeam = (purpose: Purpose) => sql.raw(`/* any team: ${purpose} */`)
