import { z } from 'zod'
import { Cursor, DayIn, DayOrInstant, Id, Instant, InstantIn, Text } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { toSchema } from '../json-schema.ts'
import { PersonalText, Safe } from '../personal.ts'
import { userNotFound } from '../tenants/users.ts'
import { series, seriesNames, seriesSpellings } from './series.ts'

export const wearable = { auth: 'team', tag: 'Wearables', subjects: { user_id: 'path.user_id' } } as const

export const ProviderIn = Text(60).meta({
  description: 'The slug of a source. GET /v2/providers lists the slugs.',
  example: 'apple_health_kit',
})
export const ProviderFilter = z.string().max(60).default('').describe('The slug of a source. Empty for all sources.')

const StartDate = DayOrInstant.meta({ description: 'The first day, or a time.', example: '2026-03-01' })
const EndDate = DayOrInstant.nullish().meta({
  description: 'The last day, inclusive, or a time. Default: now.',
  example: '2026-03-07',
})
const window = { start_date: StartDate, end_date: EndDate, provider: ProviderFilter }

/** The period of a read of summaries, which belong to days. */
export const days = {
  start_date: DayIn.meta({ description: 'The first day.', example: '2026-03-01' }),
  end_date: DayIn.nullish().meta({ description: 'The last day, inclusive. Default: now.', example: '2026-03-07' }),
  provider: ProviderFilter,
}

export const ModifiedAt = InstantIn.nullish().describe(
  'When the source last changed the data. The latest version wins, even if it arrives first. Without this field, the last one to arrive wins.',
)

/** The fields of every push besides its data. */
export const pushFields = {
  stage: z
    .enum(['daily', 'historical'])
    .default('daily')
    .describe('daily: live data, with events that contain it. historical: past data, with one event without data.'),
  provider: ProviderIn,
  start_date: InstantIn.nullish().describe('The start of the period that the push covers.'),
  end_date: InstantIn.nullish(),
  time_zone: Text(64).nullish().meta({ description: 'The IANA time zone of the data.', example: 'Europe/Berlin' }),
  modified_at: ModifiedAt,
}

const sampleFields = {
  id: Text(255).nullish(),
  value: z.union([z.number(), z.string()]).describe('A number, or text for a note.'),
  unit: Text(30).nullish().describe('Default: the unit of the resource.'),
  start_date: InstantIn,
  end_date: InstantIn.nullish().describe('The end of a sample that covers a period.'),
  timezone_offset: z
    .int()
    .nullish()
    .describe(
      'The offset from UTC in seconds. Default: the offset of start_date, then of time_zone, then of the fallback time zone of the user.',
    ),
  type: Text(64).nullish().describe('The source type, such as watch or phone. It is part of the identity of a sample.'),
  source_bundle: Text(255).nullish().describe('The app that recorded the sample.'),
  product_type: Text(255).nullish().describe('The device that recorded the sample.'),
  modified_at: ModifiedAt,
}

/** For the documentation only. The validation is handwritten, because a push can have 100,000 samples. */
const NewSample = z.unknown().meta(documentSchema(z.object({ ...sampleFields, ...allExtras() })))

const NewSamples = z.object({ ...pushFields, data: z.array(NewSample) }).meta({ id: 'NewSamples' })

/** The JSON Schema of a shape that only documents a value. */
export function documentSchema(shape: z.ZodType) {
  const { $schema, ...schema } = toSchema(shape, 'input')
  return schema
}

/** The extra fields of all resources. */
function allExtras(): z.ZodRawShape {
  return Object.assign({}, ...Object.values(series).map(({ extraFields }) => extraFields.shape))
}

export const PushResult = z
  .object({
    success: z.boolean(),
    received: z.int(),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    stale: z.int().describe('Ignored, because the stored version has a later modified_at.'),
    dropped: z.int().describe('Ignored, because the time is before ingestion_start or after ingestion_end of the user.'),
  })
  .meta({ id: 'PushResult' })

const optional = (shape: z.ZodRawShape) =>
  Object.fromEntries(Object.entries(shape).map(([name, type]) => [name, (type as z.ZodType).optional()]))

export const SampleOut = z
  .object({
    id: deprecated(z.int().nullish(), 'A sample has no ID.'),
    timezone_offset: z.int().nullable().describe('The offset from UTC in seconds.'),
    type: Safe.nullable(),
    unit: Safe,
    timestamp: Instant,
    start: Instant.optional(),
    end: Instant.optional(),
    value: z
      .union([z.number(), PersonalText])
      .optional()
      .describe('A number, or text for a note. Blood pressure has systolic and diastolic instead.'),
    systolic: z.number().optional(),
    diastolic: z.number().optional(),
    ...optional(allExtras()),
    min: z.number().optional().describe('The lowest value of a downsampled interval. `value` is then the mean.'),
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
      .describe('Keyed by source. Empty if there are no samples.'),
    next: deprecated(Safe.nullable(), 'Use `next_cursor`.'),
    next_cursor: Safe.nullable(),
  })
  .meta({ id: 'GroupedSamples' })

const legacyNames = seriesNames.filter((name) => series[name].legacy) as [string, ...string[]]
const resource = z.enum(seriesSpellings, `Must be one of ${seriesNames.join(', ')}.`)
const UserSeries = z.object({ user_id: Id, resource })

const GROUPED_SINCE = '2026-09-14'

const listCholesterol = <const T extends string>(type: T) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/timeseries/{user_id}/cholesterol/${type}`,
    summary: `List ${type} cholesterol samples as an array`,
    deprecated: { since: GROUPED_SINCE, instead: 'Use `GET /v2/timeseries/{user_id}/{resource}/grouped` with the resource `cholesterol`.' },
    params: z.object({ user_id: Id }),
    query: z.object(window),
    returns: z.array(SampleOut),
    largeResponse: true,
    cost: 5,
    refusals: { 400: 'The period contains more samples than an array can return.', ...userNotFound },
  })

export const wearableEndpoints = {
  pushSamples: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'Push samples',
    description:
      'A sample is identified by resource, provider, type and start_date. The latest version replaces earlier ones; an identical version changes nothing and emits no event. At most 100,000 samples per request. You can compress the body with gzip. Emits `daily.data.{resource}.created` and `.updated`, or `historical.data.{resource}.created`.',
    largeBody: true,
    userToken: true,
    params: UserSeries,
    body: NewSamples,
    returns: PushResult,
    refusals: { 400: 'The source was disconnected.', ...userNotFound, 413: 'The body is too large.' },
  }),
  listSamples: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/{user_id}/{resource}/grouped',
    summary: 'List samples by source',
    description:
      'A page contains up to 10,000 samples. A downsampled page can end earlier. Dates are days in UTC. The period has no maximum length.',
    params: UserSeries,
    query: z.object({
      ...window,
      downsample: z
        .string()
        .regex(/^([1-9]\d{0,4})(s|m|h|d)$/, 'Must be a duration, such as 5m, 1h or 1d.')
        .nullish()
        .meta({ description: 'Returns one sample per interval, with the mean, the lowest and the highest value.', example: '1h' }),
      next_cursor: Cursor,
      cursor: deprecated(Cursor, 'Use `next_cursor`.'),
    }),
    returns: Grouped,
    largeResponse: true,
    refusals: userNotFound,
  }),
  listSamplesPlain: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'List samples as an array',
    deprecated: {
      since: GROUPED_SINCE,
      instead: 'Use `GET /v2/timeseries/{user_id}/{resource}/grouped`, which is paginated and covers every resource.',
    },
    params: z.object({
      user_id: Id,
      resource: z.enum(legacyNames, 'Read this resource at /v2/timeseries/{user_id}/{resource}/grouped.'),
    }),
    query: z.object(window),
    returns: z.array(SampleOut),
    largeResponse: true,
    cost: 5,
    refusals: { 400: 'The period contains more samples than an array can return.', ...userNotFound },
  }),
  listCholesterolTotal: listCholesterol('total'),
  listCholesterolHdl: listCholesterol('hdl'),
  listCholesterolLdl: listCholesterol('ldl'),
  listCholesterolTriglycerides: listCholesterol('triglycerides'),
}
