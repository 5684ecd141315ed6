import { z } from 'zod'
import { Id, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { message, messageStream, Safe, safe } from '../personal.ts'
import { EventEnvelope, EventPattern } from './event.ts'

const EventTypeResponse = z
  .object({
    type: Safe.meta({ example: 'labtest.order.updated' }),
    description: Safe,
    key: Safe.describe('The ordering key. Events with the same key are delivered in order.'),
    schema: safe(z.looseObject({})).describe('The JSON Schema of the message.'),
    example: safe(EventEnvelope),
  })
  .meta({ id: 'EventType' })

const LoggedEvent = message(EventEnvelope.extend({ cursor: Safe.describe('The position of the event in the log.') })).meta({
  id: 'LoggedEvent',
})

const filter = {
  after: Text(100).nullish().describe('A cursor: return events after it. Default: from the oldest event. `end`: only new events.'),
  event_type: z.array(EventPattern).max(50).nullish().describe('Event types. A type can end in *.'),
  user_id: Id.nullish(),
  order_id: Id.nullish(),
}

const events = { tag: 'Events', method: 'get' } as const
const EventStream = messageStream(z.custom<AsyncIterable<string | Uint8Array>>()).meta({ type: 'string' })

export const eventEndpoints = {
  listEventTypes: endpoint({
    ...events,
    path: '/event-types',
    auth: 'none',
    summary: 'List event types',
    subjects: {},
    description: 'Returns the JSON Schema, the ordering key and an example of each type. Needs no credential.',
    returns: z.object({ event_types: z.array(EventTypeResponse) }).meta({ id: 'EventTypes' }),
  }),
  getEventType: endpoint({
    ...events,
    path: '/event-types/{event_type}',
    auth: 'none',
    summary: 'Get an event type',
    subjects: {},
    params: z.object({ event_type: Text(100) }),
    returns: EventTypeResponse,
    refusals: { 404: 'No such event type.' },
  }),
  listEvents: endpoint({
    ...events,
    path: '/events',
    auth: 'team',
    grantsAccess: true,
    summary: 'List events',
    subjects: { user_id: ['query.user_id', 'result.events[].user_id'], order_id: 'query.order_id' },
    description:
      'Returns the oldest events first. Send `next_cursor` as `after` in the next request, and you see every event once. A page can be shorter than `limit`, or empty if the filter matches no event of seven days. You are at the current end of the log if the page is empty and `next_cursor` is the cursor that you sent. Events of partial results are in the log even if partial_webhooks_enabled is false.',
    query: z.object({ ...filter, limit: z.int().min(1).max(500).default(100) }),
    returns: z.object({ events: z.array(LoggedEvent), next_cursor: Safe }).meta({ id: 'EventPage' }),
  }),
  streamEvents: endpoint({
    ...events,
    path: '/events/stream',
    auth: 'team',
    grantsAccess: true,
    media: 'text/event-stream',
    summary: 'Stream events',
    subjects: { user_id: 'query.user_id', order_id: 'query.order_id' },
    description:
      'Sends the event log as server-sent events: `id` is the cursor, `event` the type, `data` the envelope. Reconnect with `Last-Event-ID` to continue. Assay sends a comment every 15 seconds to keep the connection open. The stream ends when the credential expires or is revoked.',
    query: z.object(filter),
    headers: z.object({
      'last-event-id': z.string().max(100).nullish().describe('The ID of the last event that you received. Takes precedence over `after`.'),
    }),
    returns: EventStream,
    refusals: { 429: 'The team has too many streams open.' },
  }),
}
