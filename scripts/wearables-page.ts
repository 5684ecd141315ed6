import { z } from 'zod'
import { type Json, toSchema } from '../src/contract/json-schema.ts'
import { unwrap } from '../src/contract/personal.ts'
import { fieldDocs } from '../src/contract/wearables/field.ts'
import { newSummaries, recordingFields } from '../src/contract/wearables/new-summaries.ts'
import { type Series, series, seriesNames } from '../src/contract/wearables/series.ts'
import { type SummaryName, summaries, summaryNames } from '../src/contract/wearables/summaries.ts'
import { bullets, code, codes, inlineCode, prose, table } from './markdown.ts'

const example = `\`\`\`sh
. data/helpers.sh
USER_ID=$(api /v2/user -d "{ \\"client_user_id\\": \\"wearable-$(date +%s)\\" }" | pick user_id)
api /v2/timeseries/$USER_ID/heartrate -d '{
  "stage": "daily", "provider": "apple_health_kit", "time_zone": "Europe/Berlin",
  "data": [{ "value": 61, "unit": "bpm", "start_date": "2026-03-01T09:15:00+01:00", "type": "watch" }]
}'
\`\`\`

\`\`\`json
{ "success": true, "received": 1, "created": 1, "updated": 0, "unchanged": 0, "stale": 0, "dropped": 0 }
\`\`\``

export const wearablesPage = () =>
  [
    '# Wearable data',
    '',
    ...prose(
      'This page lists every resource of wearable data with its fields and units. Every source can send every resource. The [wearables guide](guides/wearables.md) shows how to connect a source, push data and receive events.',
      'This page is generated from `src/contract/wearables/` by `npm run generate`.',
    ),
    ...requests,
    ...versions,
    ...timeZones,
    '## Samples',
    '',
    ...prose(
      'A sample is one measurement. The range column has the accepted values, in the unit of the resource. The period column says whether a sample has an `end_date`. If the `type` cell is empty, `type` is optional and is the kind of device.',
    ),
    ...table(
      ['Resource', 'Event name', 'Unit', 'Other accepted units', 'Range', 'Period', '`type`', 'Extra fields'],
      seriesNames.map((name) => seriesRow(name, series[name])),
    ),
    '## Summaries',
    '',
    ...prose(
      'A summary is a record of a day, a session or an event. A response field is null if the source did not send it. All summaries share these response fields:',
    ),
    ...table(['Field', 'Type', 'Unit', 'Meaning'], sharedFields),
    ...prose('Every pushed summary can have these fields. Only fields that are marked as required must be sent:'),
    ...table(['Field', 'Type', 'Unit', 'Meaning'], requestRows(recordingFields)),
    ...summaryNames.flatMap(summarySection),
  ].join('\n')

const requests = [
  '## Requests',
  '',
  ...table(
    ['Task', 'Request'],
    [
      ['Push samples', code('POST /v2/timeseries/{user_id}/{resource}')],
      ['Read samples', code('GET /v2/timeseries/{user_id}/{resource}/grouped')],
      ['Push summaries', code('POST /v2/summary/{resource}/{user_id}')],
      ['Read summaries', code('GET /v2/summary/{resource}/{user_id}')],
      ['Check the status of historical data', code('GET /v2/introspect/historical_pull')],
      ['Count samples and summaries by day', code('GET /v2/introspect/days')],
      ['Rank the sources of a team', `${code('GET')} and ${code('PATCH /v2/team/source/priorities')}`],
    ],
  ),
  ...prose('The example uses the [shell helpers](quick-start.md#shell-helpers) from the quick start:'),
  example,
  '',
  ...bullets([
    '`stage` is `daily` for live data. Assay emits `daily.data.{resource}.created` and `daily.data.{resource}.updated` with the data.',
    '`stage` is `historical` for the past. Assay emits one `historical.data.{resource}.created` without data when the period is stored.',
    'Live data never waits for historical data. Their events have separate keys.',
    'A push is stored completely or not at all. Errors show the position in the body, such as `data`, `3`, `start_date`.',
    'A push has at most 100,000 samples or 1,000 summaries. You can compress the body with gzip.',
    'Assay rejects values outside the range of the resource, times before 1900 and times more than a day in the future.',
    "Assay drops and counts data outside the user's `ingestion_start` and `ingestion_end`.",
  ]),
]

const versions = [
  '## Identity and versions',
  '',
  ...bullets([
    'Resource, provider, `type` and `start_date` identify a sample.',
    'The user, the source and the ID, day or start time identify a summary.',
    'With `modified_at`, the latest version wins, even if it arrives first. Without it, the last version to arrive wins.',
    'An identical version changes nothing and emits no event.',
  ]),
]

const timeZones = [
  '## Time zones',
  '',
  ...prose('Assay takes the UTC offset of a sample from the first of these that is set:'),
  '1. `timezone_offset` of the sample',
  '2. the offset in `start_date`, unless it is `Z`',
  '3. `time_zone` of the push',
  '4. `fallback_time_zone` of the user',
  '',
  ...prose('Some sources report local time without a zone. Assay stores no offset for them and does not guess one.'),
]

const sharedFields = [
  ['`id`', 'uuid', '', 'The ID of the summary.'],
  ['`user_id`', 'uuid', '', 'The user.'],
  ['`source`', 'object', '', 'The source, with `provider`, `type`, `app_id` and `device_id`.'],
  ['`created_at`, `updated_at`', 'date-time', '', 'When Assay stored and last changed the summary.'],
]

function seriesRow(name: string, { event, aliases, unit, unitFactors, interval, valueKind, least, most, types, extraFields }: Series) {
  const otherUnits = Object.keys(unitFactors).filter((name) => name !== unit.toLowerCase())
  return [
    aliases.length ? `${code(name)} (${codes(aliases)})` : code(name),
    event ? code(event) : '',
    unit,
    otherUnits.join(', '),
    valueKind === 'text' ? 'text' : least === most ? String(least) : `${least} to ${most}`,
    interval ? 'yes' : 'no',
    types === 'any' ? 'required' : types ? codes(types) : '',
    codes(Object.keys(extraFields.shape)),
  ]
}

function summarySection(name: SummaryName) {
  const { noun, fields } = summaries[name]
  return [
    `### ${name}`,
    '',
    ...prose(`${capitalize(noun)}. ${notes[name] ?? ''}Response fields:`),
    ...table(['Field', 'Type', 'Unit', 'Meaning'], responseRows(fields)),
    ...prose(`Request fields of ${code(`POST /v2/summary/${name}/{user_id}`)}:`),
    ...table(['Field', 'Type', 'Unit', 'Meaning'], requestRows(without(requestShape(name), Object.keys(recordingFields)))),
  ]
}

const notes: Partial<Record<SummaryName, string>> = {
  body: 'Assay uses the last measurement of each day, and also stores the samples. ',
  menstrual_cycle: 'You can push the fields directly or as `{ source_bundle, cycle }`. ',
  sleep: 'A pushed session with `sleep_stages` also creates a sleep cycle. ',
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function requestShape(name: SummaryName): z.ZodRawShape {
  const shape = newSummaries[name]
  return shape instanceof z.ZodUnion ? shape.options[1].shape : shape.shape
}

const without = (shape: z.ZodRawShape, names: string[]) =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)))

const responseRows = (shape: z.ZodRawShape) => rowsOf(shape, (field) => typeName(toSchema(field)))

const requestRows = (shape: z.ZodRawShape) =>
  rowsOf(shape, (field) => (field.safeParse(undefined).success ? typeName(toSchema(field)) : `${typeName(toSchema(field))}, required`))

/** One row per field. The fields of an object follow it, with the path of the object. */
function rowsOf(shape: z.ZodRawShape, typeOf: (field: z.ZodType) => string, path = ''): string[][] {
  return Object.entries(shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const { meaning, unit = '' } = fieldDocs(`${path}${name}`, field)
    const object = objectIn(field)
    return [
      [code(`${path}${name}`), typeOf(field), unit, inlineCode(meaning)],
      ...(object ? rowsOf(object.shape, typeOf, `${path}${name}.`) : []),
    ]
  })
}

function objectIn(shape: z.ZodType): z.ZodObject | undefined {
  if (shape instanceof z.ZodObject) return shape
  const inner = unwrap(shape)
  return inner && objectIn(inner)
}

function typeName(schema: Json): string {
  const options = alternatives(schema).filter(({ type }) => type !== 'null')
  const values = options.flatMap((option) => (option['enum'] ?? option['x-extensible-enum'] ?? []) as string[])
  if (values.length) return codes(values)
  const [first = {}] = options
  if (first['type'] === 'array') return `list of ${itemName(first['items'] as Json)}`
  return String(first['format'] ?? [first['type']].flat().find((type) => type !== 'null'))
}

const alternatives = (schema: Json): Json[] => (schema['anyOf'] as Json[] | undefined)?.flatMap(alternatives) ?? [schema]

function itemName(items: Json) {
  const { type, const: literal } = alternatives(items)[0] as Json
  if (Number.isInteger(literal)) return 'integers'
  return type ? `${type}s` : 'samples'
}
