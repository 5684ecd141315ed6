import { statusOf } from '../src/contract/errors/kinds.ts'
import { errorTypes } from '../src/contract/errors.ts'
import { faultTypes } from '../src/contract/faults.ts'
import { type OrderCheck, type OrderRefusal, orderCheckTopics, orderRefusals } from '../src/contract/labs/order-checks.ts'
import { bullets, code, inlineCode, prose, table } from './markdown.ts'

const levels: Record<OrderCheck['severity'], string> = {
  error: 'error (422)',
  warning: 'warning',
  either: 'error (422) or warning',
}

const shapeFaults = ['missing', 'type_error', 'format_error', 'enum', 'too_small', 'too_big', 'value_error'] as const

const finding = `{
  "path": ["body", "patient_details", "medical_proxy"],
  "code": "minor_without_proxy",
  "message": "…",
  "remedy": "…",
  "severity": "hard",
  "status": 422
}`

const refusalRow = (name: OrderRefusal) => {
  const { kind, meaning, remedy } = errorTypes[name]
  return [code(name), code(orderRefusals[name].join('.')), String(statusOf[kind]), inlineCode(meaning), inlineCode(remedy)]
}

export const orderChecksPage = () =>
  [
    '# Order checks',
    '',
    ...prose(
      'Assay checks an order before it goes to a lab. Errors reject the order. Warnings do not: the order is placed, and its `warnings` field lists them. This page has every code with its remedy.',
      'It is generated from `src/contract/labs/order-checks.ts` by `npm run generate`.',
    ),
    '## Errors and warnings',
    '',
    ...bullets([
      '`POST /v3/order/validate` takes the body of `POST /v3/order`, writes nothing and returns all errors and warnings together in `problems`. Each problem has a `severity`: `hard` is an error, `advisory` is a warning.',
      '`POST /v3/order` rejects an order with errors. If the user is unknown, the status is 404. Otherwise 422 errors come first: `detail` lists each one with its code as `type`. If there are none, the status is 400 with the first rule violation. If there are several violations, `detail.errors` lists all of them.',
      '`POST /v3/order/testkit/register` checks the patient and the AoE answers. Without `aoe_answers`, missing answers are warnings.',
      '`POST /v3/order/import` checks the patient only, because the lab has already accepted the order.',
    ]),
    ...prose('A problem in the response of `POST /v3/order/validate`:'),
    '```json',
    finding,
    '```',
    '',
    ...prose('`message` and `remedy` are text for developers and can change. `code` is stable.'),
    '## Fields',
    '',
    ...prose('A field that is missing or has a wrong value is always an error with status 422.'),
    ...table(
      ['Code', 'When', 'Remedy'],
      shapeFaults.map((name) => [code(name), faultTypes[name].meaning, inlineCode(faultTypes[name].remedy)]),
    ),
    ...Object.entries(orderCheckTopics).flatMap(([topic, rows]) => [
      `## ${topic}`,
      '',
      ...table(
        ['Code', 'Field', 'Severity', 'When', 'Remedy'],
        Object.entries(rows).map(([name, { severity, field, meaning, remedy }]) => [
          code(name),
          code(field),
          levels[severity],
          inlineCode(meaning),
          inlineCode(remedy),
        ]),
      ),
    ]),
    '## User, tests, lab and billing',
    '',
    ...prose('These codes are also the `error_type` of the response. [Errors](errors.md) lists all other error types.'),
    ...table(['Code', 'Field', 'Status', 'When', 'Remedy'], (Object.keys(orderRefusals) as OrderRefusal[]).map(refusalRow)),
  ].join('\n')
