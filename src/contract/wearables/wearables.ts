import { z } from 'zod'
import { Cursor, Day, Id, Instant, InstantIn, Text } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { toSchema } from '../json-schema.ts'
import { PersonalText, Safe } from '../personal.ts'
import { series, seriesNames, seriesSpellings } from './series.ts'

export const wearable = { auth: 'team', tag: 'Wearables', subjects: { user_id: 'path.user_id' } } as const
export const unknownUser = { 404: 'No such user in this team, or the user is scheduled for deletion.' }

export const ProviderIn = Text(60).meta({
  description: 'The slug of a source, as GET /v2/providers lists it.',
  example: 'apple_health_kit',
})
export const ProviderFilter = z.string().max(60).default('').describe('The slug of a source; empty for all.')

const Moment = z.union([Day, InstantIn], { error: 'Must be a date (YYYY-MM-DD) or a date-time with a zone.' })
export const StartDate = Moment.meta({ description: 'The first day, or a moment.', example: '2026-03-01' })
export const EndDate = Moment.nullish().meta({
  description: 'The last day, the whole of it, or a moment. Left out: until now.',
  example: '2026-03-07',
})
export const window = { start_date: StartDate, end_date: EndDate, provider: ProviderFilter }

export const ModifiedAt = InstantIn.nullish().describe(
  'When the source changed it. The latest wins, whatever order they come in; left out, what comes in last wins.',
)

/** What every push says beside its data. */
export const pushed = {
  stage: z
    .enum(['daily', 'historical'])
    .default('daily')
    .describe('Live data, or the past of a window: told of by one event without data.'),
  provider: ProviderIn,
  start_date: InstantIn.nullish().describe('The window that was read.'),
  end_date: InstantIn.nullish(),
  time_zone: Text(64).nullish().meta({ description: 'IANA time zone of the user.', example: 'Europe/Berlin' }),
  modified_at: ModifiedAt,
}

const says = {
  id: Text(255).nullish(),
  value: z.union([z.number(), z.string()]).describe('A number; text for a note.'),
  unit: Text(30).nullish().describe("The resource's own unit where it is left out."),
  start_date: InstantIn,
  end_date: InstantIn.nullish().describe('Where the sample lasts.'),
  timezone_offset: z
    .int()
    .nullish()
    .describe('In seconds; left out, the offset of start_date, else that of time_zone, else the fallback of the user.'),
  type: Text(64).nullish().describe('The source type, such as watch or phone; part of the key of a sample.'),
  source_bundle: Text(255).nullish().describe('The app that recorded it.'),
  product_type: Text(255).nullish().describe('The device that recorded it.'),
  modified_at: ModifiedAt,
}

/** Documents a sample; the check itself is written by hand, because hundreds of thousands may come in a second. */
const NewSample = z.unknown().meta(documented(z.object({ ...says, ...allExtras() })))

const NewSamples = z.object({ ...pushed, data: z.array(NewSample) }).meta({ id: 'NewSamples' })

function documented(shape: z.ZodType) {
  const { $schema, ...schema } = toSchema(shape, 'input')
  return schema
}

/** The fields that one resource or another has of its own. */
function allExtras(): z.ZodRawShape {
  return Object.assign({}, ...Object.values(series).map(({ extra }) => extra.shape))
}

export const Taken = z
  .object({
    success: z.boolean(),
    received: z.int(),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    stale: z.int().describe('Older than what is there.'),
    dropped: z.int().describe("Outside the user's ingestion bounds."),
  })
  .meta({ id: 'TakenIn' })

const optional = (shape: z.ZodRawShape) =>
  Object.fromEntries(Object.entries(shape).map(([name, type]) => [name, (type as z.ZodType).optional()]))

export const SampleOut = z
  .object({
    id: deprecated(z.int().nullish(), 'A sample has no id.'),
    timezone_offset: z.int().nullable().describe('In seconds.'),
    type: Safe.nullable(),
    unit: Safe,
    timestamp: Instant,
    start: Instant.optional(),
    end: Instant.optional(),
    value: z.union([z.number(), PersonalText]).optional().describe('Text for a note; blood pressure has systolic and diastolic instead.'),
    systolic: z.number().optional(),
    diastolic: z.number().optional(),
    ...optional(allExtras()),
    min: z.number().optional().describe('Of downsampled samples; value is then their mean.'),
    max: z.number().optional(),
    count: z.int().optional(),
  })
  .meta({ id: 'Sample' })

export const SourceOut = z
  .object({
    provider: Safe,
    type: Safe,
    app_id: Safe.nullable(),
    device_id: Id.nullable(),
    name: deprecated(Safe, 'Use `provider`.'),
    slug: deprecated(Safe, 'Use `provider`.'),
    logo: deprecated(Safe, 'Use `provider`.'),
  })
  .meta({ id: 'DataSource' })

const Grouped = z
  .object({
    groups: z
      .record(Safe, z.array(z.object({ source: SourceOut, data: z.array(SampleOut) })))
      .describe('By source; empty where there is nothing.'),
    next: deprecated(Safe.nullable(), 'Use `next_cursor`.'),
    next_cursor: Safe.nullable(),
  })
  .meta({ id: 'GroupedSamples' })

const legacyNames = seriesNames.filter((name) => series[name].legacy) as [string, ...string[]]
const resource = z.enum(seriesSpellings, `Must be one of ${seriesNames.join(', ')}.`)
const UserSeries = z.object({ user_id: Id, resource })

const GROUPED_SINCE = '2026-09-14'

const cholesterol = <const T extends string>(type: T) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/timeseries/{user_id}/cholesterol/${type}`,
    summary: `Read ${type} cholesterol as a bare array`,
    deprecated: { since: GROUPED_SINCE, instead: 'Use `GET /v2/timeseries/{user_id}/{resource}/grouped` with the resource `cholesterol`.' },
    params: z.object({ user_id: Id }),
    query: z.object(window),
    returns: z.array(SampleOut),
    refusals: { 400: 'The window holds more samples than an array can be answered with.', ...unknownUser },
  })

export const wearableEndpoints = {
  pushSamples: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'Push samples of a resource',
    description:
      'A sample is known by resource, provider, type and start_date; the latest version replaces the others, and one that is the same again changes and tells nothing. At most 100,000 samples; the body may be compressed with gzip.',
    largeBody: true,
    userToken: true,
    params: UserSeries,
    body: NewSamples,
    returns: Taken,
    refusals: { 400: 'The source was disconnected.', ...unknownUser, 413: 'The body is too large.' },
  }),
  listSamples: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/{user_id}/{resource}/grouped',
    summary: 'Read samples of a resource, by source',
    description: 'Any window; a page holds up to 10,000 samples. Dates are days in UTC.',
    params: UserSeries,
    query: z.object({
      ...window,
      downsample: z
        .string()
        .regex(/^([1-9]\d{0,4})(s|m|h|d)$/, 'Must be a length of time, such as 5m, 1h or 1d.')
        .nullish()
        .meta({ description: 'One sample for each such stretch, with the mean, the lowest and the highest value.', example: '1h' }),
      next_cursor: Cursor,
      cursor: deprecated(Cursor, 'Use `next_cursor`.'),
    }),
    returns: Grouped,
    refusals: unknownUser,
  }),
  listSamplesPlain: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'Read samples of a resource as a bare array',
    deprecated: {
      since: GROUPED_SINCE,
      instead: 'Use `GET /v2/timeseries/{user_id}/{resource}/grouped`, which has pages and every resource.',
    },
    params: z.object({
      user_id: Id,
      resource: z.enum(legacyNames, 'This resource is read at /v2/timeseries/{user_id}/{resource}/grouped.'),
    }),
    query: z.object(window),
    returns: z.array(SampleOut),
    refusals: { 400: 'The window holds more samples than an array can be answered with.', ...unknownUser },
  }),
  listCholesterolTotal: cholesterol('total'),
  listCholesterolHdl: cholesterol('hdl'),
  listCholesterolLdl: cholesterol('ldl'),
  listCholesterolTriglycerides: cholesterol('triglycerides'),
}
