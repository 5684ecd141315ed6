import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { personal, Safe } from '../personal.ts'

/** One type of event: its payload and its ordering key. */
export type EventType<S extends z.ZodType = z.ZodType> = {
  description: string
  /** Events with the same key are delivered in the order in which they happened. */
  key: string
  data: S
  /** Fictitious data that matches the shape. */
  example: z.input<S>
}

/** Ends the description of a Junction event type that Assay never emits, so that clients do not wait for it. */
export const NOT_YET = 'Assay does not emit this event yet; you can only send its example to a webhook.'

/** One row of the event catalog. */
export const eventType = <S extends z.ZodType>(row: EventType<S>): EventType<S> => row

/** A filter for events: a type, or a prefix of types and a star. */
export const EventPattern = z.string().regex(/^([a-z0-9_.]{1,100}\*?|\*)$/, 'Must be an event type, or a prefix that ends in *.')

const EventPayload = z.union([z.looseObject({}), z.array(z.looseObject({}))])

/** The message that webhooks receive and `GET /events` returns: Junction's envelope with `event_id` and `created_at` added. */
export const EventEnvelope = z
  .object({
    event_type: Safe.meta({ example: 'labtest.order.updated' }),
    data: personal(EventPayload).describe('The payload. GET /event-types has the JSON Schema of each event type.'),
    team_id: Id,
    user_id: Id.nullable().describe('Null if the event is not about a user, and in `user.deleted` after the user is erased.'),
    client_user_id: Safe.nullable(),
    event_id: Id.describe('The same for every delivery of the event. Deduplicate by it.'),
    created_at: Instant.describe("When the event happened, on the team's clock."),
    left_out: z
      .array(Safe)
      .optional()
      .describe(
        'Present only if the event was too large: the lists and texts that were emptied, such as data.lab_test.markers. Read the resource to get them.',
      ),
  })
  .meta({ id: 'EventEnvelope' })
export type EventEnvelope = z.output<typeof EventEnvelope>

/** The team, user and order of the examples. */
export const exampleValues = {
  team_id: '6b0c2f0e-4a51-4f0e-9d57-2f3f6f1c9a10',
  user_id: 'a3f1c7d2-58b4-4c7e-8f60-91d2b7e4c021',
  client_user_id: 'patient-17',
  order_id: 'c2d9e5b8-7a14-4d3c-b6f2-0e8a5d7c4132',
  at: '2026-03-01T09:30:00.000Z',
  later: '2026-03-03T16:05:00.000Z',
} as const
