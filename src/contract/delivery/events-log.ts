import { z } from 'zod'
import { Id, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { message, messageStream, Safe, safe } from '../personal.ts'
import { EventEnvelope, EventPattern } from './event.ts'

const EventTypeAnswer = z
  .object({
    type: Safe.meta({ example: 'labtest.order.updated' }),
    description: Safe,
    key: Safe.describe('What keeps its order: events about the same one are told as they happened.'),
    schema: safe(z.looseObject({})).describe('The JSON Schema of the whole message.'),
    example: safe(EventEnvelope),
  })
  .meta({ id: 'EventType' })

const LoggedEvent = message(EventEnvelope.extend({ cursor: Safe.describe('The place of the event in the log.') })).meta({
  id: 'LoggedEvent',
})

const filter = {
  after: Text(100)
    .nullish()
    .describe('A cursor: what comes after it. Left out: from the oldest event that is kept. `end`: only what is yet to come.'),
  event_type: z.array(EventPattern).max(50).nullish().describe('Event types; a type may end in *.'),
  user_id: Id.nullish(),
  order_id: Id.nullish(),
}

const events = { tag: 'Events', method: 'get' } as const
const pieces = messageStream(z.custom<AsyncIterable<string | Uint8Array>>()).meta({ type: 'string' })

export const eventEndpoints = {
  listEventTypes: endpoint({
    ...events,
    path: '/event-types',
    auth: 'none',
    summary: 'Every event type',
    subjects: {},
    description: 'What each says as a JSON Schema, what keeps its order, and an example.',
    returns: z.object({ event_types: z.array(EventTypeAnswer) }).meta({ id: 'EventTypes' }),
  }),
  getEventType: endpoint({
    ...events,
    path: '/event-types/{event_type}',
    auth: 'none',
    summary: 'One event type',
    subjects: {},
    params: z.object({ event_type: Text(100) }),
    returns: EventTypeAnswer,
    refusals: { 404: 'There is no such event type.' },
  }),
  listEvents: endpoint({
    ...events,
    path: '/events',
    auth: 'team',
    summary: 'The event log',
    subjects: { user_id: ['query.user_id', 'result.events[].user_id'], order_id: 'query.order_id' },
    description:
      'Oldest first. `next_cursor` is always given and is the `after` of the next call: whoever goes on from it sees every event once, those too that were committed late. A page may be shorter than `limit`; one without events is the end for now. Partial results stand in it whether or not the team is told of them by webhook.',
    query: z.object({ ...filter, limit: z.int().min(1).max(500).default(100) }),
    returns: z.object({ events: z.array(LoggedEvent), next_cursor: Safe }).meta({ id: 'EventPage' }),
  }),
  streamEvents: endpoint({
    ...events,
    path: '/events/stream',
    auth: 'team',
    media: 'text/event-stream',
    summary: 'The event log as server-sent events',
    subjects: { user_id: 'query.user_id', order_id: 'query.order_id' },
    description:
      'The same log, as it grows: `id` is the cursor, `event` the type, `data` the envelope. A client that comes back with `Last-Event-ID` goes on where it was. A comment every 15 seconds shows that the line is alive; it ends when the credential does.',
    query: z.object(filter),
    headers: z.object({
      'last-event-id': z.string().max(100).nullish().describe('The id of the last event that was seen; wins over `after`.'),
    }),
    returns: pieces,
    refusals: { 429: 'The team has too many streams open.' },
  }),
}
