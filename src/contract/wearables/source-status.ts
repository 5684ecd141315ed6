import { z } from 'zod'
import { DayOrInstant, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { SourceIn } from '../tenants/sources.ts'
import { connectionErrorTypes } from './provider-events.ts'

export const MAX_PULLED_DAYS = 90

/** Why Assay could not read a source that is still connected. */
export const readErrors = [
  'unavailable',
  'rate_limited',
  'malformed',
  'refused',
  'not_found',
  'transport_failure',
  'resource_contention',
  'non_retriable_error',
  'unexpected_error',
] as const

/** Why a feed could not be read. */
export const feedErrors = ['unauthorized', 'forbidden', ...readErrors] as const

export const skipReasons = ['missing', 'invalid', 'implausible'] as const

/** A record of a source that was skipped. The key is a hash of what names it. */
export type SkippedRecord = {
  key: string
  record: string
  reason: (typeof skipReasons)[number]
  field: string | null
  since: string
  seen_at: string
}

const Skipped = z
  .object({
    record: Safe.describe('The kind of record, as the source or Assay names it.'),
    reason: openEnum(skipReasons).describe(
      'A field is `missing` or has an `invalid` type or form, or the record has an `implausible` value, which the ingestion API would reject.',
    ),
    field: Safe.nullable(),
    count: z.int(),
    since: Instant,
    last_seen_at: Instant,
  })
  .meta({ id: 'SkippedRecords' })

export const ConnectionFeed = z
  .object({
    name: Safe,
    failures: z.int().describe('Failed reads since the last one that succeeded.'),
    error: openEnum(feedErrors).nullable().describe('Why the last read failed.'),
    remedy: Safe.nullable(),
    last_read_at: Instant.nullable().describe('When a read last succeeded.'),
    next_read_at: Instant.nullable(),
    skipped: z.array(Skipped).describe('Records that Assay could not read, at most 100. Each is read again when it changes.'),
  })
  .meta({ id: 'ConnectionFeed' })

const SourceError = z.object({
  error: openEnum([...connectionErrorTypes, ...readErrors]).describe(
    'The `error_type` of broken connections, or why the last read failed.',
  ),
  connections: z.int(),
  since: Instant.nullable().describe('When the newest of these connections broke. Null for reads that Assay repeats.'),
  next_attempt_at: Instant.nullable().describe('When Assay reads again. Null if the user has to connect again.'),
  user_ids: z.array(Id).describe('At most five of the users.'),
  remedy: Safe,
})

const SourceStatus = z
  .object({
    name: Safe,
    slug: Safe,
    logo: Safe,
    application: openEnum(['team', 'deployment', 'none']).describe(
      'The OAuth application through which users connect: one of the team, the one of the operator, or none.',
    ),
    connections: z
      .object({
        connected: z.int(),
        pending: z.int().describe('Connected, and the history is still being read.'),
        failing: z.int().describe('Connected, and the last read failed. Assay retries.'),
        expired: z.int().describe('The user has to connect again.'),
        paused: z.int(),
        at_least: z.boolean().describe('True if there are more than 10,000. The newest 10,000 are counted then.'),
      })
      .describe('Each connection counts once.'),
    lag_seconds: z.int().nullable().describe('How long the oldest due read has been due. Null if Assay does not read the source.'),
    last_read_at: Instant.nullable().describe('When a read last succeeded.'),
    quota: z
      .object({ limit: z.int().nullable(), remaining: z.int() })
      .nullable()
      .describe('The requests that the source allows and that are left, as it last reported them. Null if it does not report them.'),
    blocked_until: Instant.nullable().describe('The source limits requests until then.'),
    notifications: openEnum(['active', 'manual', 'failing', 'pending', 'polled']).describe(
      'How Assay learns of new data: by notifications that it subscribed to, or that you register by hand. `failing` and `polled` mean that Assay reads at intervals.',
    ),
    notifications_remedy: Safe.nullable(),
    errors: z.array(SourceError),
  })
  .meta({ id: 'SourceStatus' })

export const sourceStatusEndpoints = {
  getSourceStatus: endpoint({
    auth: 'team',
    tag: 'Connections',
    method: 'get',
    path: '/v2/team/source/status',
    summary: 'Get the status of the sources',
    description:
      'Counts the connections of the team by source and state. Shows how far Assay is behind, the quota that is left, and the last errors with a remedy. Lists the sources that Assay reads and those with connections.',
    subjects: { user_id: 'result.sources[].errors[].user_ids[]' },
    returns: z.object({ at: Instant, sources: z.array(SourceStatus) }).meta({ id: 'SourceStatuses' }),
  }),
  pullWindow: endpoint({
    auth: 'team',
    tag: 'Connections',
    method: 'post',
    path: '/v2/user/{user_id}/{provider}/pull',
    summary: 'Pull a period of a source again',
    description: `Reads a period of at most ${MAX_PULLED_DAYS} days again, for example after an outage of the source. A job does it within seconds, and emits \`daily.data.*\` events for data that is new or has changed. Counts as one of the 8 refreshes per user per hour. For the whole history, use POST /v2/link/bulk_trigger_historical_pull.`,
    subjects: { user_id: 'path.user_id' },
    params: z.object({ user_id: Id, provider: SourceIn }),
    body: z
      .object({
        start_date: DayOrInstant.meta({ description: 'The first day, or a time.', example: '2026-03-01' }),
        end_date: DayOrInstant.nullish().meta({ description: 'The last day, inclusive, or a time. Default: now.', example: '2026-03-07' }),
        resource: Text(60).nullish().meta({ description: 'Only this resource. Default: all of them.', example: 'sleep' }),
      })
      .meta({ id: 'PullRequest' }),
    returns: z
      .object({ success: z.literal(true), resources: z.array(Safe).describe('The resources that are read again.') })
      .meta({ id: 'PullResult' }),
    refusals: {
      400: 'Assay cannot read this connection: it is broken or paused, or Assay does not read the source.',
      404: 'No such user in this team, or the source is not connected.',
      429: 'The sources of this user were already refreshed 8 times in the last hour.',
    },
  }),
}
