import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { personal, Safe } from '../personal.ts'

/** Something that customers are told: what it says, and what keeps its order. */
export type EventType<S extends z.ZodType = z.ZodType> = {
  description: string
  /** Events of one key are told in the order in which they happened. */
  key: string
  data: S
  /** Fictitious; valid by the shape. */
  example: z.input<S>
}

/** Ends the description of a type that the public interface has and nothing here leads to, so that nobody waits for it. */
export const NOT_YET = 'Not told yet: examples of it can be sent, but nothing here leads to it.'

/** One row of the catalogue. */
export const eventType = <S extends z.ZodType>(row: EventType<S>): EventType<S> => row

/** What chooses events: a type, or the beginning of types and a star. */
export const EventPattern = z.string().regex(/^([a-z0-9_.]{1,100}\*?|\*)$/, 'Must be an event type, which may end in *.')

const Told = z.union([z.looseObject({}), z.array(z.looseObject({}))])

/** What is sent and read: the envelope of the public interface, and our own `event_id` and `created_at`. */
export const EventEnvelope = z
  .object({
    event_type: Safe.meta({ example: 'labtest.order.updated' }),
    data: personal(Told).describe('As the catalogue of event types describes it.'),
    team_id: Id,
    user_id: Id.nullable().describe('Null for what is about nobody.'),
    client_user_id: Safe.nullable(),
    event_id: Id.describe('The same however often the event is sent.'),
    created_at: Instant.describe("When it happened, on the team's clock."),
    left_out: z
      .array(Safe)
      .optional()
      .describe(
        'Only where the event was too large: the lists and texts that are empty in it, such as data.lab_test.markers. Read the resource.',
      ),
  })
  .meta({ id: 'EventEnvelope' })
export type EventEnvelope = z.output<typeof EventEnvelope>

/** Who and what the examples are about. */
export const sample = {
  team_id: '6b0c2f0e-4a51-4f0e-9d57-2f3f6f1c9a10',
  user_id: 'a3f1c7d2-58b4-4c7e-8f60-91d2b7e4c021',
  client_user_id: 'patient-17',
  order_id: 'c2d9e5b8-7a14-4d3c-b6f2-0e8a5d7c4132',
  at: '2026-03-01T09:30:00.000Z',
  later: '2026-03-03T16:05:00.000Z',
} as const
