import { z } from 'zod'
import { Cursor, Day, Id, Instant, openEnum } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'
import { ProviderFilter, ProviderIn, wearable } from './wearables.ts'

const paged = {
  user_id: Id.nullish(),
  provider: ProviderFilter,
  user_limit: z.int().min(1).max(500).default(50).describe('The maximum number of users per page.'),
  next_cursor: Cursor,
  cursor: deprecated(Cursor, 'Use `next_cursor`.'),
}

const page = <S extends z.ZodType>(each: S) =>
  z.object({ data: z.array(each), next: deprecated(Safe.nullable(), 'Use `next_cursor`.'), next_cursor: Safe.nullable() })

const ResourceState = z.object({
  last_attempt: z.object({ timestamp: Instant, status: openEnum(['success', 'failure']) }).nullable(),
  oldest_data: Instant.nullable(),
  newest_data: Instant.nullable(),
  sent_count: z.int().nullable().describe('The number of summaries and samples in emitted events.'),
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
    summary: 'List received resources',
    description: 'Shows the oldest and newest data and the last attempt of each resource, by user and source.',
    subjects: { user_id: ['query.user_id', 'result.data[].user_id'] },
    query: z.object(paged),
    returns: page(z.object({ user_id: Id, provider: z.record(Safe, z.record(Safe, ResourceState)) })),
    refusals: { 404: 'No such user in this team.' },
  }),
  getHistoricalPulls: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/introspect/historical_pull',
    summary: 'List historical pulls',
    subjects: { user_id: ['query.user_id', 'result.data[].user_id'] },
    description:
      'Shows the status of the history of each resource, by user and source. Pushed history is `success` once it is stored. After a temporary failure the status is `retrying`, and Assay reads again after 10 seconds, 1 minute, 10 minutes, 1 hour and 2 hours. If the last retry fails, the status is `failure`. Demo sources have no retry after 2 hours.',
    query: z.object(paged),
    returns: page(
      z.object({
        user_id: Id,
        provider: z.record(Safe, z.object({ pulled: z.record(Safe, Pull), not_pulled: z.array(Safe) })),
      }),
    ),
    refusals: { 404: 'No such user in this team.' },
  }),
  getDataDays: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/introspect/days',
    summary: 'List the days with data of a user',
    description:
      "Counts samples and summaries by resource, source and day, without their values, so that you can find gaps. Days without data are left out. The days of samples are in UTC, and those of summaries in the user's calendar.",
    subjects: { user_id: 'query.user_id' },
    query: z.object({
      user_id: Id,
      provider: ProviderFilter,
      days: z.int().min(1).max(90).default(30).describe('How many days, up to today.'),
    }),
    returns: z
      .object({
        start_date: safe(Day),
        end_date: safe(Day),
        resources: z.array(z.object({ resource: Safe, provider: Safe, days: z.array(z.object({ date: safe(Day), count: z.int() })) })),
      })
      .meta({ id: 'DataDays' }),
    refusals: { 404: 'No such user in this team.' },
  }),
  getSourcePriorities: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/team/source/priorities',
    summary: 'List source priorities',
    subjects: {},
    description:
      'Ranks the sources that send the same kind of data. The highest priority is 1. The default is the order of the source catalog.',
    query: z.object({ data_type: z.enum(priorityTypes).nullish() }),
    returns: z.array(Priority),
  }),
  patchSourcePriorities: endpoint({
    ...wearable,
    method: 'patch',
    path: '/v2/team/source/priorities',
    summary: 'Update source priorities',
    subjects: {},
    description: 'The sources that you name come first, in your order. The others follow in their previous order.',
    body: z
      .array(z.object({ data_type: z.enum(priorityTypes), providers: z.array(ProviderIn).min(1).max(100) }))
      .max(5)
      .nullish()
      .meta({ id: 'NewSourcePriorities' }),
    returns: z.array(Priority),
  }),
}
