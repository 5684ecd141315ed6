import { newSummaries } from '../src/contract/wearables/new-summaries.ts'
import { type Series, series, seriesNames } from '../src/contract/wearables/series.ts'
import { summaries } from '../src/contract/wearables/summaries.ts'

const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ')

const example = `\`\`\`sh
TEAM_API_KEY=$(sed -n 's/.*"team_api_key": "\\(.*\\)".*/\\1/p' data/credentials.json)
api() { curl -s "http://127.0.0.1:8080$1" -H "x-service-api-key: $TEAM_API_KEY" -H 'content-type: application/json' "\${@:2}"; echo; }
USER_ID=$(api /v2/user -d "{\\"client_user_id\\":\\"wearable-$(date +%s)\\"}" | sed 's/.*"user_id":"\\([^"]*\\)".*/\\1/')
api /v2/timeseries/$USER_ID/heartrate -d '{
  "stage": "daily", "provider": "apple_health_kit", "time_zone": "Europe/Berlin",
  "data": [{ "value": 61, "unit": "bpm", "start_date": "2026-03-01T09:15:00+01:00", "type": "watch" }]
}'
\`\`\`

\`\`\`json
{ "success": true, "received": 1, "created": 1, "updated": 0, "unchanged": 0, "stale": 0, "dropped": 0 }
\`\`\``

/** What can be pushed and read of wearable data, from the table of resources. */
export function wearablesPage() {
  return [
    '# Wearable data',
    '',
    'Every source may send every resource. Samples come in by `POST /v2/timeseries/{user_id}/{resource}` and are read by',
    '`GET /v2/timeseries/{user_id}/{resource}/grouped`; summaries come in by `POST /v2/summary/{resource}/{user_id}` and are read by `GET`',
    'of the same path. Bodies may be gzip. `stage` is `daily` for live data, which is told by `daily.data.{resource}.created` and `.updated`,',
    'or `historical` for the past of a window, which ends in one `historical.data.{resource}.created` without data.',
    'The [guide](guides/wearables.md) goes through it step by step. This page is made from `src/contract/wearables/series.ts` and `src/contract/wearables/summaries.ts`',
    'by `npm run generate`.',
    '',
    example,
    '',
    'What is sent again replaces: a sample by resource, provider, `type` and `start_date`, a summary by its id. With `modified_at`, on the push,',
    'the sample or the summary, the latest version wins whatever order they come in; without it, what comes in last. The same again changes',
    'nothing and tells nothing. What lies outside the ingestion bounds of the user is dropped and counted.',
    '',
    'The offset of a sample is its own `timezone_offset`, else that of its `start_date`, else that of `time_zone` of the push, else that of the',
    '`fallback_time_zone` of the user. Sources that give the clock on the wall have none, and it is never guessed. Live data never waits for a',
    'backfill: the past has states, events and an order of its own. `GET /v2/introspect/historical_pull` tells how far it was read.',
    '',
    '## Samples',
    '',
    '| Resource | In events | Unit | Also taken | Lasts | Between | `type` | Fields of its own |',
    '|---|---|---|---|---|---|---|---|',
    ...seriesNames.map((name) => rowOf(name, series[name])),
    '',
    'Values outside the bounds are refused, and so is a time before 1900 or more than a day ahead; the answer names the place, such as',
    '`data`, `3`, `start_date`, and nothing of the body is kept. A body has at most 100,000 samples.',
    '',
    '## Summaries',
    '',
    '| Resource | Is | Fields as it is pushed | Fields as it is read |',
    '|---|---|---|---|',
    ...Object.entries(summaries).map(
      ([name, { noun: what, fields }]) => `| \`${name}\` | ${what.toLowerCase()} | ${pushed(name)} | ${code(Object.keys(fields))} |`,
    ),
    '',
  ].join('\n')
}

function rowOf(
  name: string,
  { event, aliases, unit, unitFactors: takes, interval, valueKind: says, least, most, types, extraFields: extra }: Series,
) {
  const others = Object.keys(takes).filter((spelling) => spelling !== unit.toLowerCase())
  const bounds = says === 'text' ? 'text' : `${least} and ${most}`
  const spelled = aliases.length ? `\`${name}\` (${code(aliases)})` : `\`${name}\``
  const kinds = types === 'any' ? 'required' : types ? code(types) : 'source type'
  return `| ${spelled} | ${event ? `\`${event}\`` : '–'} | ${unit || '–'} | ${others.join(', ') || '–'} | ${interval ? 'yes' : 'no'} | ${bounds} | ${kinds} | ${code(Object.keys(extra.shape)) || '–'} |`
}

function pushed(name: string) {
  const shape = newSummaries[name as keyof typeof newSummaries]
  return 'shape' in shape ? code(Object.keys(shape.shape)) : '`source_bundle`, `cycle`'
}
