import { z } from 'zod'
import { Cursor, Id, Instant, openEnum } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { ProviderFilter, ProviderIn, wearable } from './wearables.ts'

const paged = {
  user_id: Id.nullish(),
  provider: ProviderFilter,
  user_limit: z.int().min(1).max(500).default(50).describe('How many users a page has at most.'),
  next_cursor: Cursor,
  cursor: deprecated(Cursor, 'Use `next_cursor`.'),
}

const page = <S extends z.ZodType>(each: S) =>
  z.object({ data: z.array(each), next: deprecated(Safe.nullable(), 'Use `next_cursor`.'), next_cursor: Safe.nullable() })

const ResourceState = z.object({
  last_attempt: z.object({ timestamp: Instant, status: openEnum(['success', 'failure']) }).nullable(),
  oldest_data: Instant.nullable(),
  newest_data: Instant.nullable(),
  sent_count: z.int().nullable().describe('Summaries and samples that were told of.'),
})

const Pull = z.object({
  status: openEnum(['success', 'failure', 'in_progress', 'scheduled', 'retrying']),
  range_start: Instant.nullable(),
  range_end: Instant.nullable(),
  timeline: z.object({ scheduled_at: Instant, started_at: Instant.nullable(), ended_at: Instant.nullable() }),
  days_with_data: z.int(),
  release: Safe,
  trace_id: Safe.nullable(),
  error_details: Safe.nullable(),
})

export const priorityTypes = ['workouts', 'activity', 'sleep', 'body', 'timeseries'] as const

const Priority = z
  .object({
    data_type: openEnum(priorityTypes),
    provider: Safe,
    source_id: z.int(),
    name: Safe,
    slug: Safe,
    logo: Safe,
    priority: z.int(),
  })
  .meta({ id: 'SourcePriority' })

export const introspectionEndpoints = {
  getUserResources: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/introspect/resources',
    summary: 'See what came in of each resource, by user and source',
    subjects: { user_id: ['query.user_id', 'result.data[].user_id'] },
    query: z.object(paged),
    returns: page(z.object({ user_id: Id, provider: z.record(Safe, z.record(Safe, ResourceState)) })),
    refusals: { 404: 'No such user in this team.' },
  }),
  getHistoricalPulls: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/introspect/historical_pull',
    summary: 'See how far the past was read, by user and source',
    subjects: { user_id: ['query.user_id', 'result.data[].user_id'] },
    description:
      'Pushed history is a success once it is kept. What the service fetches itself is in_progress, then success; where something stands in its way that may pass it is retrying, after 10 seconds, a minute, ten minutes and an hour, and a failure after that. Sources by OAuth push and are not fetched.',
    query: z.object(paged),
    returns: page(
      z.object({
        user_id: Id,
        provider: z.record(Safe, z.object({ pulled: z.record(Safe, Pull), not_pulled: z.array(Safe) })),
      }),
    ),
    refusals: { 404: 'No such user in this team.' },
  }),
  getSourcePriorities: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/team/source/priorities',
    summary: 'See which source comes first where several tell of the same',
    subjects: {},
    description: 'Left alone, it is the order of the catalogue of sources.',
    query: z.object({ data_type: z.enum(priorityTypes).nullish() }),
    returns: z.array(Priority),
  }),
  patchSourcePriorities: endpoint({
    ...wearable,
    method: 'patch',
    path: '/v2/team/source/priorities',
    summary: 'Say which source comes first',
    subjects: {},
    description: 'The sources that are named come first, in their order; the others follow as before. Without a body nothing changes.',
    body: z
      .array(z.object({ data_type: z.enum(priorityTypes), providers: z.array(ProviderIn).min(1).max(100) }))
      .max(5)
      .nullish()
      .meta({ id: 'NewSourcePriorities' }),
    returns: z.array(Priority),
  }),
}
