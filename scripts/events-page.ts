import { type EventType, NOT_YET } from '../src/contract/delivery/event.ts'
import { type EventName, eventNames, eventTypes, exampleOf } from '../src/contract/events.ts'
import { series } from '../src/contract/wearables/series.ts'
import { summaries } from '../src/contract/wearables/summaries.ts'
import { bullets, code, inlineCode, prose, table } from './markdown.ts'

const isOfResource = (name: string) => /^(daily|historical)\.data\./.test(name)

const typeOf = (name: EventName) => eventTypes[name] as EventType

const isEmitted = (name: EventName) => !typeOf(name).description.endsWith(NOT_YET)

const log = `\`\`\`sh
. data/helpers.sh
api "/events?limit=100&event_type=labtest.*" | pick next_cursor
\`\`\``

const stream = `\`\`\`sh
. data/helpers.sh
api "/events/stream?after=end" -N --max-time 2 || true # without --max-time the stream stays open
\`\`\``

export function eventsPage() {
  const single = eventNames.filter((name) => !isOfResource(name))
  return [
    '# Events',
    '',
    ...prose(
      'Assay emits an event for each change that this page lists. [Webhooks](webhooks.md) receive events as signed POST requests, and you can read the event log at any time.',
      'This page is generated from `src/contract/events.ts` by `npm run generate`.',
    ),
    '## Message format',
    '',
    ...prose('Every event is one JSON message:'),
    ...table(['Field', 'Meaning'], envelope),
    ...prose(
      'Events with the same key are delivered in the order in which they happened. The tables below show the key of each type. Tolerate unknown fields and event types: new ones can be added.',
      '`GET /event-types` returns all types with a JSON Schema and an example. `GET /asyncapi.json` describes them as an AsyncAPI 3.0 document for code generators.',
    ),
    '## Read the event log',
    '',
    log,
    '',
    ...bullets([
      'Store `next_cursor` and send it as `after` in the next call. You then see every event once, including events that were committed late.',
      'Every page has a `next_cursor`, including the last one.',
      'Filter with `event_type`, which can end in `*`, with `user_id` and with `order_id`.',
      'Assay keeps events for `EVENT_RETENTION_DAYS`. When a user is erased, Assay deletes the events about the user, except `user.deleted`.',
    ]),
    ...prose('`GET /events/stream` returns the same log as server-sent events. It resumes from `Last-Event-ID`.'),
    stream,
    '',
    '## Event types',
    '',
    ...table(['Type', 'Key', 'Description'], single.filter(isEmitted).map(rowOf)),
    '## Wearable data events',
    '',
    ...table(
      ['Type', 'Key', 'Description'],
      [
        ['`daily.data.{resource}.created`', 'user and resource', 'Emitted when new data of a resource arrives.'],
        ['`daily.data.{resource}.updated`', 'user and resource', 'Emitted when data of a resource changes.'],
        [
          '`daily.data.{resource}.deleted`',
          'user and resource',
          'Emitted when the source deletes data of a resource. Contains only IDs or times.',
        ],
        [
          '`historical.data.{resource}.created`',
          'user and resource, separate from daily events',
          'Emitted once when the backfill of a resource is complete. It contains no data.',
        ],
      ],
    ),
    ...prose('These are the resources and the `data` of their daily events. [Wearable data](wearables.md) lists the fields.'),
    ...table(['Resource', 'Data'], resources()),
    '## Event types that Assay does not emit',
    '',
    ...prose(
      'Junction has these event types, but Assay does not emit them yet. You can send their examples to a webhook to test your receiver.',
    ),
    ...table(
      ['Type', 'Meaning'],
      single.filter((name) => !isEmitted(name)).map((name) => [code(name), typeOf(name).description.replace(NOT_YET, '').trim()]),
    ),
    '## Examples',
    '',
    ...prose('All people and labs in the examples are fictitious.'),
    ...[...single, ...ofEachKind].flatMap(example),
  ].join('\n')
}

const envelope = [
  ['`event_type`', 'The type, such as `labtest.order.updated`.'],
  ['`data`', 'The payload. Its shape depends on the type.'],
  ['`team_id`', 'The team that the event belongs to.'],
  ['`user_id`, `client_user_id`', 'The user that the event is about, or null.'],
  ['`event_id`', 'The ID of the event. It is the same for every delivery, so deduplicate by it.'],
  ['`created_at`', "When the event happened, on the team's clock."],
  ['`left_out`', 'Present only if the event was too large: the fields that were emptied.'],
]

const resources = () => [
  ...Object.entries(summaries).map(([name, { noun }]) => [code(name), noun]),
  [code('workout_stream'), 'a reference to the stream of a workout'],
  ...Object.values(series).flatMap(({ event, unit }) => (event ? [[code(event), unit ? `samples (${unit})` : 'samples']] : [])),
]

const ofEachKind: EventName[] = [
  'daily.data.activity.created',
  'daily.data.glucose.created',
  'daily.data.workout_stream.created',
  'daily.data.sleep.deleted',
  'historical.data.activity.created',
]

const rowOf = (name: EventName) => [code(name), typeOf(name).key, inlineCode(typeOf(name).description)]

const example = (name: EventName) => [
  `### ${name}`,
  '',
  ...prose(inlineCode(typeOf(name).description)),
  '```json',
  JSON.stringify(exampleOf(name), null, 2),
  '```',
  '',
]
