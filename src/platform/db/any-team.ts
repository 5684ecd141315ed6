import { sql } from 'kysely'

/** Reads: work that is then handled per team, and lists across the teams of an organization or a deployment. */
const reads = [
  'an account in the teams of an application',
  'appointments that change',
  'audit chains',
  'backup',
  'bulk operations in progress',
  'claims of lanes',
  'connections to deregister',
  'connections to pause',
  'credentials of an organization',
  'critical results',
  'critical results to escalate',
  'deleted webhooks',
  'destinations of listed pipelines',
  'destinations that a process holds',
  'destinations without a holder',
  'due feeds',
  'due feeds in turn',
  'due pulls',
  'due subscriptions',
  'epochs of teams',
  'feeds by source',
  'kits that are overdue',
  'lab tests with the IDs of the catalog',
  'occupied time of shared calendars',
  'lab reports to parse',
  'lab tests with the IDs of the catalog',
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
  'teams with disabled webhooks',
  'teams with events to number',
  'teams with finished lanes',
  'teams with keys to rotate',
  'teams with pull preferences',
  'teams with users to erase',
  'teams with webhooks',
  'the largest teams',
  'the oldest event without a number',
  'the team of a lab test',
  'the team of a user',
  'unchained audit rows',
  'unmatched results to review',
  'webhook URLs',
  'webhook URLs to encrypt',
  'webhooks with due messages',
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
  'expired user tokens',
  'old bulk operations',
  'old idempotency keys',
] as const

type Purpose = (typeof reads)[number] | (typeof prunings)[number]

/**
 * Marks a statement that is not about one team. Every other statement names its team for each table that it touches; the
 * test run fails otherwise.
 */
export const anyTeam = (purpose: Purpose) => sql.raw(`/* any team: ${purpose} */`)
