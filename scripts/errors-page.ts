import { statusOf } from '../src/contract/errors/kinds.ts'
import { errorTopics } from '../src/contract/errors.ts'
import { faultTypes } from '../src/contract/faults.ts'
import { code, inlineCode, prose, table } from './markdown.ts'

const statuses: [number, string, string][] = [
  [400, 'The request is well formed, but a rule rejects it.', 'no'],
  [401, 'The credential is missing, unknown, expired or of the wrong kind.', 'no'],
  [403, 'The credential is valid, but not allowed to do this.', 'no'],
  [404, 'The resource does not exist, or the credential has no access to it.', 'no'],
  [405, 'The path does not have this method. The `Allow` header lists its methods.', 'no'],
  [409, 'The request conflicts with the current state or with another request.', 'depends on `error_type`'],
  [413, 'The body is too large.', 'no'],
  [415, 'The body is not JSON, or is compressed with something other than gzip.', 'no'],
  [422, 'A field is missing or has a wrong value. `detail` is a list. For the types with status 422 below, it is an object.', 'no'],
  [429, 'A limit is exceeded.', 'later'],
  [500, 'The service failed.', 'yes'],
  [503, 'The service or its database is not available right now.', 'yes'],
]

const refusal = `{ "detail": { "error_type": "ORDER_NOT_FOUND", "error_message": "…" } }`

const fault = `{
  "detail": [
    { "type": "missing", "loc": ["body", "patient_details", "dob"], "msg": "This field is required." }
  ]
}`

const json = (text: string) => ['```json', text, '```', '']

const texts = ({ meaning, remedy }: { meaning: string; remedy: string }) => [inlineCode(meaning), inlineCode(remedy)]

export const errorsPage = () =>
  [
    '# Errors',
    '',
    ...prose(
      'Every error response is JSON with a `detail` field. Branch on the HTTP status and on `error_type`, which is stable. Show `error_message` to developers only: its wording can change. Error responses never repeat the values you sent.',
      'This page is generated from `src/contract/errors` by `npm run generate`.',
    ),
    '## Error format',
    '',
    ...prose('When a rule rejects the request, `detail` is an object with the type and a message that names the remedy:'),
    ...json(refusal),
    ...prose(
      'Some errors add fields to `detail`, such as the `user_id` of an existing user. Two kinds of errors have a different format, for compatibility with the Junction SDKs: `PERSONAL_CLIENT_USER_ID` has text as `detail` with `error_type` next to it, and link-token errors repeat their fields next to `detail`.',
    ),
    '## Validation errors',
    '',
    ...prose(
      'When the request is malformed, the status is 422 and `detail` is a list. Each entry names one field in `loc`, which starts with `body`, `query`, `path` or `header`, and says in `msg` what to send instead. The list contains every field that is wrong, not only the first. The types with status 422 in the tables below, such as `REVIEWER_REQUIRED`, have an `error_type` instead.',
    ),
    ...json(fault),
    ...table(
      ['`type`', 'Meaning', 'Remedy'],
      Object.entries(faultTypes).map(([name, row]) => [code(name), ...texts(row)]),
    ),
    ...prose('Orders have additional types. [Order checks](order-checks.md) lists all of them.'),
    '## Status codes',
    '',
    ...table(
      ['Status', 'Meaning', 'Retry'],
      statuses.map(([status, ...rest]) => [String(status), ...rest]),
    ),
    ...prose(
      'Send an [idempotency key](concepts.md#idempotency) with requests that create something, so that a retry never creates it twice.',
    ),
    ...Object.entries(errorTopics).flatMap(([topic, rows]) => [
      `## ${topic}`,
      '',
      ...table(
        ['`error_type`', 'Status', 'Meaning', 'Remedy'],
        Object.entries(rows)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, row]) => [code(name), String(statusOf[row.kind]), ...texts(row)]),
      ),
    ]),
  ].join('\n')
