import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { type EventType, eventType, sample } from '../delivery/event.ts'
import { deprecated } from '../deprecation.ts'
import { PersonalText, Safe } from '../personal.ts'
import { type Series, type SeriesEvent, series } from './series.ts'
import { Sport, type SummaryName, summaries } from './summaries.ts'

const Source = z
  .looseObject({
    name: Safe,
    slug: Safe,
    logo: Safe,
    provider: Safe,
    type: Safe,
    app_id: Safe.nullish(),
    device_id: Id.nullish(),
  })
  .describe('Where the data came from.')

const Summary = z.looseObject({ id: Id, user_id: Id, source: Source, created_at: Instant.nullish(), updated_at: Instant.nullish() })

const Sample = z.looseObject({
  timestamp: Instant,
  timezone_offset: z.int().nullish().describe('In seconds.'),
  type: Safe.nullish(),
  unit: Safe,
  start: Instant.nullish(),
  end: Instant.nullish(),
})

const Batch = (value: z.ZodRawShape) =>
  z.looseObject({
    user_id: Id,
    source: Source,
    source_id: z.int(),
    data: z.array(Sample.extend(value)),
    chunk_index: z
      .int()
      .optional()
      .describe('Which part of a batch that was too large for one event, from 0 on. Each can be used on its own.'),
    total_chunks: z.int().optional().describe('Into how many events the batch was divided.'),
  })

const Stream = z.looseObject({
  user_id: Id,
  workout_id: Id,
  provider_id: Safe,
  message: Safe,
  source: Source,
  sport: Sport.nullish(),
})

const Backfill = z.looseObject({
  user_id: Id,
  start_date: Instant,
  end_date: Instant,
  is_final: deprecated(z.literal(true), 'The value is always true.'),
  provider: Safe,
})

const { user_id } = sample
const source = {
  name: 'Tidemark',
  slug: 'tidemark',
  logo: 'https://api.example.com/logos/tidemark.svg',
  provider: 'tidemark',
  type: 'watch',
}

const about = { user_id, source }
const stamps = { created_at: sample.at, updated_at: sample.at }

type Told = { description: string; data: z.ZodType; example: unknown }

const summaryEvents = Object.entries(summaries).map(([name, { what, fields, example }]): [string, Told] => [
  name,
  {
    description: `${what}. The latest version with the same data.id replaces all earlier ones.`,
    data: Summary.extend(fields),
    example: { id: '7e2d4b90-6c1a-4f83-a5d9-3b8f0c6e1d27', ...about, ...example, ...stamps },
  },
])

/** What a sample says, by its resource. */
export const saidBy: Record<Series['says'], z.ZodRawShape> = {
  number: { value: z.number() },
  pair: { systolic: z.number(), diastolic: z.number() },
  text: { value: PersonalText },
}

const told = Object.values(series).flatMap((row) => (row.event === null ? [] : [{ ...row, event: row.event }]))

const seriesEvents = told.map(({ event, unit, says, extra, types, example }): [string, Told] => [
  event,
  {
    description: 'A batch of samples. The latest value of one resource, provider, source type and timestamp replaces earlier ones.',
    data: Batch({ ...saidBy[says], ...extra.shape }),
    example: {
      ...about,
      source_id: 17,
      data: [{ timestamp: sample.at, timezone_offset: -28_800, type: Array.isArray(types) ? types[0] : 'automatic', unit, ...example }],
    },
  },
])

const streamEvent: [string, Told] = [
  'workout_stream',
  {
    description: 'A workout has a stream, which is too large to be told: read GET /v2/timeseries/workouts/{workout_id}/stream.',
    data: Stream,
    example: {
      ...about,
      workout_id: '4c9b7e21-d8f5-4a60-93b2-e1a7d0c6f538',
      provider_id: 'TM-55210',
      message: 'The stream is read at /v2/timeseries/workouts/{workout_id}/stream.',
      sport: { id: 12, name: 'Rowing', slug: 'rowing' },
    },
  },
]

const daily = [...summaryEvents, ...seriesEvents, streamEvent]

export type Resource = SummaryName | SeriesEvent | 'workout_stream'
type Name = `daily.data.${Resource}.${'created' | 'updated'}` | `historical.data.${Resource}.created`

/** What is told of wearable data: for each resource as it comes in, and once when its past was read. */
export const dataEvents = Object.fromEntries(
  daily.flatMap(([resource, { description, data, example }]) => [
    ...['created', 'updated'].map((verb) => [
      `daily.data.${resource}.${verb}`,
      eventType({ description, key: 'user and resource', data, example }),
    ]),
    [
      `historical.data.${resource}.created`,
      eventType({
        description: `The past of ${resource} was read; what it holds is told by daily.data.${resource} or read.`,
        key: 'user and resource',
        data: Backfill,
        example: {
          user_id,
          start_date: '2025-12-01T00:00:00.000Z',
          end_date: '2026-03-01T00:00:00.000Z',
          is_final: true as const,
          provider: 'tidemark',
        },
      }),
    ],
  ]),
) as Record<Name, EventType<z.ZodType<Record<string, unknown>, Record<string, unknown>>>>
