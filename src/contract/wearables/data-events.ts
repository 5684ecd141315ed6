import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { type EventType, eventType, exampleValues } from '../delivery/event.ts'
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
  .describe('The source of the data.')

const Summary = z.looseObject({ id: Id, user_id: Id, source: Source, created_at: Instant.nullish(), updated_at: Instant.nullish() })

const Sample = z.looseObject({
  timestamp: Instant,
  timezone_offset: z.int().nullish().describe('The offset from UTC, in seconds.'),
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
      .describe('The number of this part, from 0, if the batch was too large for one event. Each part is complete in itself.'),
    total_chunks: z.int().optional().describe('The number of events that the batch was split into.'),
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

const DeletedSummaries = z.looseObject({ user_id: Id, provider: Safe, ids: z.array(Id) })

const DeletedSamples = z.looseObject({
  user_id: Id,
  provider: Safe,
  data: z.array(z.looseObject({ timestamp: Instant, type: Safe.nullish() })),
  chunk_index: z.int().optional(),
  total_chunks: z.int().optional(),
})

const { user_id } = exampleValues
const source = {
  name: 'Tidemark',
  slug: 'tidemark',
  logo: 'https://api.example.com/logos/tidemark.svg',
  provider: 'tidemark',
  type: 'watch',
}

const exampleSubject = { user_id, source }
const exampleTimes = { created_at: exampleValues.at, updated_at: exampleValues.at }

type Verb = 'created' | 'updated'
type ResourceEvents = { when: Record<Verb, string>; note: string; data: z.ZodType; example: unknown }

const summaryEvents = Object.entries(summaries).map(([name, { noun, fields, example }]): [string, ResourceEvents] => [
  name,
  {
    when: { created: `${noun} arrives`, updated: `${noun} changes` },
    note: 'The latest version with the same data.id replaces earlier ones.',
    data: Summary.extend(fields),
    example: { id: '7e2d4b90-6c1a-4f83-a5d9-3b8f0c6e1d27', ...exampleSubject, ...example, ...exampleTimes },
  },
])

/** The value fields of a sample, by the kind of its resource. */
const valueFields: Record<Series['valueKind'], z.ZodRawShape> = {
  number: { value: z.number() },
  pair: { systolic: z.number(), diastolic: z.number() },
  text: { value: PersonalText },
}

const seriesWithEvents = Object.values(series).flatMap((row) => (row.event === null ? [] : [{ ...row, event: row.event }]))

const seriesEvents = seriesWithEvents.map(({ event, unit, valueKind, extraFields, types, example }): [string, ResourceEvents] => [
  event,
  {
    when: { created: 'samples arrive', updated: 'samples change' },
    note: 'The latest value for a provider, source type and timestamp replaces earlier ones.',
    data: Batch({ ...valueFields[valueKind], ...extraFields.shape }),
    example: {
      ...exampleSubject,
      source_id: 17,
      data: [
        { timestamp: exampleValues.at, timezone_offset: -28_800, type: Array.isArray(types) ? types[0] : 'automatic', unit, ...example },
      ],
    },
  },
])

const streamEvent: [string, ResourceEvents] = [
  'workout_stream',
  {
    when: { created: 'a workout gets a stream', updated: 'the stream of a workout changes' },
    note: 'The payload does not contain the stream. Read it with GET /v2/timeseries/workouts/{workout_id}/stream.',
    data: Stream,
    example: {
      ...exampleSubject,
      workout_id: '4c9b7e21-d8f5-4a60-93b2-e1a7d0c6f538',
      provider_id: 'TM-55210',
      message: 'Read the stream at /v2/timeseries/workouts/{workout_id}/stream.',
      sport: { id: 12, name: 'Rowing', slug: 'rowing' },
    },
  },
]

const daily = [...summaryEvents, ...seriesEvents, streamEvent]

/** A deletion names what is gone and contains no data. A stream goes with its workout. */
const deletions = [
  ...summaryEvents.map(
    ([resource]) =>
      [
        `daily.data.${resource}.deleted`,
        eventType({
          description: 'Emitted when the source deletes summaries. The payload has only their IDs; reads no longer return them.',
          key: 'user and resource',
          data: DeletedSummaries,
          example: { user_id, provider: 'tidemark', ids: ['7e2d4b90-6c1a-4f83-a5d9-3b8f0c6e1d27'] },
        }),
      ] as const,
  ),
  ...seriesEvents.map(
    ([resource]) =>
      [
        `daily.data.${resource}.deleted`,
        eventType({
          description: 'Emitted when the source deletes samples. The payload has only their times and types; reads no longer return them.',
          key: 'user and resource',
          data: DeletedSamples,
          example: { user_id, provider: 'tidemark', data: [{ timestamp: exampleValues.at, type: 'automatic' }] },
        }),
      ] as const,
  ),
]

type Resource = SummaryName | SeriesEvent | 'workout_stream'
type Name =
  | `daily.data.${Resource}.${Verb}`
  | `daily.data.${Exclude<Resource, 'workout_stream'>}.deleted`
  | `historical.data.${Resource}.created`

/** Events of wearable data: created, updated and deleted for live data of each resource, and one for a complete backfill. */
export const dataEvents = Object.fromEntries([
  ...daily.flatMap(([resource, { when, note, data, example }]) => [
    ...(['created', 'updated'] as const).map((verb) => [
      `daily.data.${resource}.${verb}`,
      eventType({ description: `Emitted when ${when[verb]}. ${note}`, key: 'user and resource', data, example }),
    ]),
    [
      `historical.data.${resource}.created`,
      eventType({
        description: `Emitted once when the backfill of ${resource} is complete. The payload names the window and contains no data.`,
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
  ...deletions,
]) as Record<Name, EventType<z.ZodType<Record<string, unknown>, Record<string, unknown>>>>
