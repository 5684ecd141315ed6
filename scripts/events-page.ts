import type { EventType } from '../src/contract/delivery/event.ts'
import { type EventName, eventNames, eventTypes, exampleOf } from '../src/contract/delivery/events.ts'
import { series } from '../src/contract/wearables/series.ts'
import { summaries } from '../src/contract/wearables/summaries.ts'

const isOfResource = (name: string) => /^(daily|historical)\.data\./.test(name)

/** What customers are told, from the catalogue alone. */
export function eventsPage() {
  const single = eventNames.filter((name) => !isOfResource(name))
  return [
    '# Events',
    '',
    'Every event is one message: `event_type`, `data`, `team_id`, `user_id` and `client_user_id`, and beside them `event_id`, which is the same',
    'however often it is sent, and `created_at`. Webhooks bring it, `GET /events?after=` reads it from any place, and `GET /events/stream` is the same',
    'log as server-sent events. Events about the same key are told in the order in which they happened. `GET /event-types` has all of this page',
    'for programs, with a JSON Schema of every message; `GET /asyncapi.json` is the same as an AsyncAPI 3.0 document, for generators of code.',
    'Fields may be added; tolerate those that you do not know.',
    'This page is made from `src/contract/delivery/events.ts` by `npm run generate`.',
    '',
    '## Reading the log',
    '',
    '```sh',
    'TEAM_API_KEY=$(sed -n \'s/.*"team_api_key": "\\(.*\\)".*/\\1/p\' data/credentials.json)',
    'curl -s "http://127.0.0.1:8080/events?limit=100&event_type=labtest.*" -H "x-service-api-key: $TEAM_API_KEY"; echo',
    'curl -sN --max-time 2 "http://127.0.0.1:8080/events/stream?after=end" -H "x-service-api-key: $TEAM_API_KEY" || true # without --max-time it goes on',
    '```',
    '',
    'Keep `next_cursor` and send it as `after` the next time: every event is seen once, those too that were committed late. It is given at the',
    'end of the log as well. `event_type` (which may end in `*`), `user_id` and `order_id` narrow it. The stream goes on from `Last-Event-ID`.',
    'Events are kept for `EVENT_RETENTION_DAYS`, and are gone at once when their user is erased.',
    '',
    '## Types',
    '',
    '| Type | Key | When |',
    '|---|---|---|',
    ...single.map((name) => row(name)),
    '| `daily.data.{resource}.created`, `.updated` | user and resource | Wearable data came in, or was corrected. |',
    '| `historical.data.{resource}.created` | user and resource, apart from the daily ones | The past of a resource was read; there is no data inside. |',
    '',
    '## Resources',
    '',
    '| Resource | `data` of the daily events |',
    '|---|---|',
    ...Object.entries(summaries).map(([name, { what }]) => `| \`${name}\` | ${what.toLowerCase()} |`),
    '| `workout_stream` | shallow: the stream itself is read |',
    ...Object.values(series)
      .filter(({ event }) => event)
      .map(({ event, unit }) => `| \`${event}\` | samples${unit ? `, in ${unit}` : ''} |`),
    '',
    '## Examples',
    '',
    'The people in them are invented.',
    '',
    ...[...single, ...ofEachKind].flatMap(example),
  ].join('\n')
}

const ofEachKind: EventName[] = [
  'daily.data.activity.created',
  'daily.data.glucose.created',
  'daily.data.workout_stream.created',
  'historical.data.activity.created',
]

function row(name: EventName) {
  const { key, description } = eventTypes[name] as EventType
  return `| \`${name}\` | ${key} | ${description} |`
}

const example = (name: EventName) => [
  `### ${name}`,
  '',
  `Key: ${(eventTypes[name] as EventType).key}.`,
  '',
  '```json',
  JSON.stringify(exampleOf(name), null, 2),
  '```',
  '',
]
