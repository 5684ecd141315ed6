import type { z } from 'zod'
import { registerSchema, type Schemas, sortByName } from './components.ts'
import { deprecationOf } from './deprecation.ts'
import type { Row } from './endpoint.ts'
import { errorTypes } from './errors.ts'
import { rows } from './index.ts'
import type { Io, Json } from './json-schema.ts'
import { interfaceVersion, version } from './version.ts'

/** The OpenAPI 3.1 document, generated from the endpoint table. */
export function openapi(): Json {
  const schemas: Schemas = new Map()
  const paths: Record<string, Json> = {}
  for (const [name, row] of rows) {
    paths[row.path] = { ...paths[row.path], [row.method]: operation(name, row, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version,
      summary: 'End users, lab-test orders, wearable data and signed webhooks, self-hosted.',
      description: introduction,
      'x-interface-version': interfaceVersion,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      responses: errorResponses,
      schemas: { ...errorSchemas, ...sortByName(schemas) },
    },
  }
}

const introduction = `
Guides, concepts, events and errors are in the [documentation](/docs).

Data endpoints take a team API key as \`x-service-api-key\`, or a 10-minute access token as \`Authorization: Bearer\`. Endpoints under \`/v1\` take a
management key as \`X-Management-Key\`. Endpoints under \`/lab\` take the key of a partner lab as \`x-lab-key\`. A first request:

~~~sh
curl -s $BASE_URL/v2/user -H "x-service-api-key: $TEAM_API_KEY" -H 'content-type: application/json' -d '{"client_user_id":"patient-17"}'
~~~

- **Errors** are JSON: \`{ "detail": { "error_type", "error_message" } }\`. If a field is missing or not valid, the status is 422 and \`detail\` is a list
  of \`{ type, loc, msg }\`, except where an operation documents an \`error_type\`. \`error_type\` is stable. Errors never repeat the values that you sent.
- **Idempotency**: operations with \`X-Idempotency-Key\` return the first response for every retry with the same key.
- **Limits**: a 429 response has \`Retry-After\`. See [Limits](/docs/limits).
- **Pagination**: send the \`next_cursor\` of a response to get the next page. Lists of orders and markers have \`page\` and \`size\` instead.
- **Enumerations** in responses are open: tolerate values that are not listed. Unknown fields of a request are ignored.
- **Deprecation**: deprecated operations, parameters, fields and headers keep working. A request that uses one gets a \`Deprecation\` header with
  the date. The [list](/docs/versioning#deprecated-operations) names the replacements.
`.trim()

const tags = {
  Users: 'The end users of a team, with their demographics and insurance.',
  Organization: 'The organization that a management key belongs to.',
  Teams: 'Teams own users and data. Teams share no data with each other.',
  Keys: 'Team API keys, management keys and access tokens. Assay shows a key once, when you create it.',
  Catalog: 'Labs, markers, lab tests and lab accounts.',
  Orders: 'Lab test orders, from creation to completion.',
  Coverage: 'Where specimens can be collected: phlebotomists and collection sites near a ZIP code.',
  Appointments: 'Visits of phlebotomists at home and visits to collection sites, and the schedule that they are booked in.',
  Kits: 'Shipments of test kits: couriers, labels, tracking notifications and limits.',
  Results: 'Results and documents of orders.',
  'Unmatched results': 'Results of lab connections that match no order with certainty, for review. A closed beta.',
  Events: 'The event catalog and the event log.',
  Webhooks: 'Signed, ordered delivery of events to your URLs.',
  Pipelines: 'Ordered delivery of events to message brokers and topics.',
  Connections: 'Wearable sources and their connections with users.',
  Link: 'Endpoints that an end user calls to connect a source. They take a link token instead of a key.',
  'Source settings': "A team's credentials at wearable sources, OAuth scopes and backfill periods.",
  Wearables: 'Data from wearable sources: samples, summaries and workout streams.',
  Insurance: 'Payors and diagnosis codes.',
  'Partner lab API': 'Endpoints for partner labs. They take a key that the operator creates for the lab.',
  People: 'Console users: invitations, roles, passwords and second factors.',
  Console: 'Endpoints of the console: its session, the overview and the audit log.',
  Sandbox: 'The sandbox clock, inbox and reset of a team.',
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

const securitySchemes = {
  teamKey: header('x-service-api-key', 'A team API key. `x-vital-api-key` is accepted too.'),
  accessToken: { type: 'http', scheme: 'bearer', description: 'A team access token. It expires after 10 minutes.' },
  managementKey: header('X-Management-Key', 'A management key. The deprecated `X-Service-Org-Key` is accepted too.'),
  linkToken: header('x-vital-link-token', 'A link token. `x-service-link-token` is accepted too.'),
  userToken: { type: 'http', scheme: 'bearer', description: 'The sign-in token of the user in the request.' },
  labKey: header('x-lab-key', 'The key of a partner lab.'),
  webhookSignature: header(
    'webhook-signature',
    'A signature with the secret of a webhook, with the headers `webhook-id` and `webhook-timestamp`, as in Standard Webhooks.',
  ),
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-assay',
    description:
      'A console session. Send it with `x-assay-console: 1` and from the same origin. Team and management endpoints accept it in place of a key. Link-token endpoints and partner lab endpoints do not.',
  },
}

const securityOf = {
  team: [{ teamKey: [] }, { accessToken: [] }],
  management: [{ managementKey: [] }],
  lab: [{ labKey: [] }],
  link: [{ linkToken: [] }],
  session: [{ session: [] }],
  none: [],
}

const errorType = {
  type: 'string',
  description: 'A stable code for the error. See /docs/errors.',
  'x-extensible-enum': Object.keys(errorTypes).sort(),
}

const errorSchemas = {
  Refusal: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: {
        anyOf: [
          {
            type: 'object',
            required: ['error_type', 'error_message'],
            properties: { error_type: errorType, error_message: { type: 'string', description: 'The problem and its remedy.' } },
          },
          {
            type: 'string',
            description: 'The message alone, on endpoints where Junction clients expect text. `error_type` is then next to `detail`.',
          },
        ],
      },
      error_type: errorType,
    },
  },
  ValidationFailure: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: {
        type: 'array',
        items: {
          type: 'object',
          required: ['type', 'loc', 'msg'],
          properties: {
            type: { type: 'string' },
            loc: {
              type: 'array',
              items: { type: ['string', 'integer'] },
              description: 'The location: body, query, path or header, then the field.',
            },
            msg: { type: 'string' },
          },
        },
      },
    },
  },
}

const json = (schema: Json) => ({ content: { 'application/json': { schema } } })
const requestOf = ({ multipart }: Row, schema: Json) => (multipart ? { content: { 'multipart/form-data': { schema } } } : json(schema))
const refusal = (description: string) => ({ description, ...json({ $ref: '#/components/schemas/Refusal' }) })

const responseHeader = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

const limitHeaders = {
  headers: {
    'Retry-After': responseHeader('The seconds after which to retry.', '2'),
    RateLimit: responseHeader(
      'If the team or the key has a fixed rate: the requests that are left, and the seconds until all are back.',
      '"team";r=0;t=1',
    ),
    'RateLimit-Policy': responseHeader(
      'If the team or the key has a fixed rate: the burst, and the seconds it takes to fill up.',
      '"team";q=20;w=2',
    ),
  },
}

const errorResponses = {
  TooMany: {
    ...refusal('The request exceeds a fixed rate, or the service is busy and the team has more requests at the same time than its share.'),
    ...limitHeaders,
  },
  MethodNotAllowed: refusal('The path does not accept the method. The header `Allow` lists those that it accepts.'),
  TooLarge: refusal('The body is too large, or a list in it is too long.'),
  UnsupportedType: refusal(
    'The body does not have the media type of the operation, which is `application/json` if nothing else is documented.',
  ),
  UnknownHost: refusal(
    'The service listens on a loopback address, and the header `Host` names neither a loopback address nor the host of its URL.',
  ),
  Unavailable: refusal('The database is unavailable. Retry after the seconds in `Retry-After`.'),
  Unauthenticated: refusal('The credential is missing, unknown, revoked, expired, or of the wrong kind.'),
  Forbidden: refusal('The credential does not allow this: the key is read-only, or the role, plan or beta is missing.'),
  Invalid: {
    description: 'The body, a parameter or a header is missing or not valid.',
    ...json({ $ref: '#/components/schemas/ValidationFailure' }),
  },
}

function operation(name: string, row: Row, schemas: Schemas): Json {
  const schemaOf = (type: z.ZodType, io: Io) => registerSchema(type, io, schemas)
  const response = () => ({ content: { [row.media ?? 'application/json']: { schema: schemaOf(row.returns, 'output') } } })
  return {
    operationId: name,
    tags: [row.tag],
    summary: row.summary,
    ...(row.deprecated ? { deprecated: true } : {}),
    ...describe(row),
    security: [
      ...securityOf[row.auth],
      ...(row.userToken ? [{ userToken: [] }] : []),
      ...(row.webhookSignature ? [{ webhookSignature: [] }] : []),
    ],
    ...parametersOf(row, schemaOf),
    ...(row.body
      ? { requestBody: { required: !row.body.safeParse(undefined).success, ...requestOf(row, schemaOf(row.body, 'input')) } }
      : {}),
    responses: {
      [row.status ?? 200]: { description: 'Success.', ...(row.status === 204 ? {} : response()) },
      ...(row.isStillRunning ? { 202: { description: 'Accepted. The work continues after the response.', ...response() } } : {}),
      ...commonResponses(row),
      ...Object.fromEntries(Object.entries({ ...defaultRefusals(row), ...row.refusals }).map(refusalOf)),
      ...(row.auth === 'none' ? {} : { 401: reference('Unauthenticated'), 403: reference('Forbidden') }),
      422: row.refusals?.[422] ? eitherInvalid(row.refusals[422]) : reference('Invalid'),
    },
  }
}

const refusalOf = ([status, text]: [string, string]) => [status, { ...refusal(text), ...(status === '429' ? limitHeaders : {}) }]

/** The error of a missing part has an `error_type`. Others are a list. */
const eitherInvalid = (description: string) => ({
  description,
  ...json({ anyOf: [{ $ref: '#/components/schemas/ValidationFailure' }, { $ref: '#/components/schemas/Refusal' }] }),
})

const reference = (name: keyof typeof errorResponses) => ({ $ref: `#/components/responses/${name}` })

/** Error responses of every operation, and of every operation with a body. */
const commonResponses = (row: Row) => ({
  405: reference('MethodNotAllowed'),
  ...(row.body ? { 413: reference('TooLarge'), 415: reference('UnsupportedType') } : {}),
  421: reference('UnknownHost'),
  429: reference('TooMany'),
  503: reference('Unavailable'),
})

/** Error responses that follow from the endpoint's authentication and idempotency. */
const defaultRefusals = ({ auth, idempotent }: Row): Record<number, string> => ({
  ...(auth === 'management'
    ? { 400: 'The environment or region does not match this deployment.', 404: 'The key has no access to the organization.' }
    : {}),
  ...(idempotent ? { 409: 'The idempotency key was used for another request, or the first request is still running.' } : {}),
})

/** Returns nothing if there is no text beyond the summary. */
function describe(row: Row) {
  const description = [row.description, ...notes(row)].filter(Boolean).join('\n\n')
  return description ? { description } : {}
}

function notes(row: Row): string[] {
  const notes: string[] = []
  if (row.deprecated) notes.push(`Deprecated since ${row.deprecated.since}. ${row.deprecated.instead}`)
  if (row.aliases) notes.push(`Also available at ${row.aliases.map((alias) => `\`${alias}\``).join(', ')}.`)
  if (row.plan) notes.push('Requires the `scale` plan.')
  if (row.scope === 'org') notes.push('Requires an Org Management Key.')
  if (row.beta) notes.push(`Closed beta \`${row.beta}\`. The operator enables it for a team.`)
  if (row.grantsAccess && row.query) notes.push('Unknown query parameters are rejected.')
  if (row.grantsAccess && row.body) notes.push('Unknown fields of the body are rejected.')
  if (row.sandbox) notes.push('Available in the sandbox only.')
  return notes
}

const idempotencyHeaders = [
  {
    name: 'X-Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Assay keeps the first response for at least 24 hours and returns it for every request with the same key.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  {
    name: 'X-Idempotency-Error',
    in: 'header',
    required: false,
    description: '`no-cache` keeps only successful responses.',
    // The viewer fills an enumeration of one value into every example, so this is a pattern.
    schema: { type: 'string', pattern: '^no-cache$' },
  },
]

function parametersOf(row: Row, schemaOf: (type: z.ZodType, io: Io) => Json) {
  const from = (shape: z.ZodObject | undefined, where: string) =>
    Object.entries(shape?.shape ?? {}).map(([name, type]) => ({
      name,
      in: where,
      required: where === 'path' || !(type as z.ZodType).safeParse(undefined).success,
      ...(deprecationOf(type as z.ZodType) ? { deprecated: true } : {}),
      schema: schemaOf(type as z.ZodType, 'input'),
    }))
  const parameters = [
    ...from(row.params, 'path'),
    ...from(row.query, 'query'),
    ...from(row.headers, 'header'),
    ...(row.idempotent ? idempotencyHeaders : []),
  ]
  return parameters.length ? { parameters } : {}
}
