import type { z } from 'zod'
import { byName, inComponents, type Schemas } from './components.ts'
import { deprecationOf } from './deprecation.ts'
import type { Row } from './endpoint.ts'
import { errorTypes } from './errors.ts'
import { rows } from './index.ts'
import type { Io, Json } from './json-schema.ts'
import { version } from './version.ts'

/** The OpenAPI 3.1 document, made from the endpoint table alone. */
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
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      responses: errorResponses,
      schemas: { ...errorSchemas, ...byName(schemas) },
    },
  }
}

const introduction = `
Guides, concepts, events and errors are in the [documentation](/docs).

Send a team API key as \`x-service-api-key\` to the data routes (or a 10-minute access token as \`Authorization: Bearer\`), and a
management key as \`X-Management-Key\` to the routes under \`/v1\`. Partner labs send a lab key as \`x-lab-key\` to the routes under \`/lab\`. A first call:

~~~sh
curl -s $BASE_URL/v2/user -H "x-service-api-key: $TEAM_API_KEY" -H 'content-type: application/json' -d '{"client_user_id":"patient-17"}'
~~~

- **Errors** are JSON: \`{ "detail": { "error_type", "error_message" } }\`, or a list of \`{ type, loc, msg }\` with status 422 where the request has
  the wrong shape. \`error_type\` is stable; the values that were sent are never repeated.
- **Idempotency**: routes that take \`X-Idempotency-Key\` answer a repetition with the first outcome.
- **Pages**: lists that answer \`next_cursor\` take it back for the next page; lists of markers have \`page\` and \`size\`.
- **Enumerations** in answers are open: tolerate values that are not listed. Unknown fields of a request are ignored.
- **Top plan** means the plan \`scale\` of the organisation.
- **Deprecation**: deprecated operations, parameters, fields and headers keep working. A request that uses one gets a \`Deprecation\` header with
  the date. The [list](/docs/deprecations) names the replacements.
`.trim()

const tags = {
  Users: 'The people that a team looks after, their demographics and their insurance.',
  Organisation: 'The organisation that a management key belongs to.',
  Teams: 'Teams own users and data; nothing passes from one to another.',
  Keys: 'Team API keys, management keys and access tokens. A key is shown once, when it is made.',
  Catalogue: 'Labs, markers and lab tests that can be ordered, and the accounts at the labs.',
  Orders: 'Lab-test orders, from placing to the lab and back.',
  Results: 'What the labs report, and the papers of an order.',
  Events: 'What customers are told: the catalogue, and the log to read from any place.',
  Webhooks: 'Where events are sent, signed and in order.',
  Pipelines: 'Brokers and topics that events are published to, in order.',
  Connections: 'Wearable sources, and what connects them with users.',
  Link: 'How an end user connects a source, with a link token instead of a key.',
  'Source settings': "A team's own credentials at sources, and what it asks of users there.",
  Wearables: 'What comes in from wearable sources: samples, summaries and streams.',
  Insurance: 'Payors and diagnosis codes.',
  'Lab side': 'What a partner lab calls, with a key that the operator made for it.',
  People: 'Those who work with the console: invited, with roles, a password and a second factor.',
  Console: 'What the console asks besides: its session, the overview, the audit log.',
  Sandbox: "A team's own clock, to see today what happens next week.",
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

const securitySchemes = {
  teamKey: header('x-service-api-key', 'A team API key. `x-vital-api-key` is taken too.'),
  accessToken: { type: 'http', scheme: 'bearer', description: 'A team access token, good for 10 minutes.' },
  managementKey: header('X-Management-Key', 'A management key. The deprecated `X-Service-Org-Key` is taken too.'),
  linkToken: header('x-vital-link-token', 'A link token; `x-service-link-token` is taken too.'),
  userToken: { type: 'http', scheme: 'bearer', description: 'The sign-in token of the user that the request is about.' },
  labKey: header('x-lab-key', 'The key of a partner lab.'),
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-assay',
    description:
      'A console session. Send it with `x-assay-console: 1` and from the same origin. Team and management routes accept it in place of a key. Link-token routes and partner-lab routes do not.',
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

const errorType = { type: 'string', description: 'Stable, one for each rule.', 'x-extensible-enum': Object.keys(errorTypes).sort() }

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
            properties: { error_type: errorType, error_message: { type: 'string', description: 'What is wrong and what to do.' } },
          },
          { type: 'string', description: 'The message alone, where the public clients expect text; error_type then stands beside detail.' },
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
              description: 'Where: body, query, path or header, then the field.',
            },
            msg: { type: 'string' },
          },
        },
      },
    },
  },
}

const json = (schema: Json) => ({ content: { 'application/json': { schema } } })
const refusal = (description: string) => ({ description, ...json({ $ref: '#/components/schemas/Refusal' }) })

const errorResponses = {
  Unauthenticated: refusal('The credential is missing, unknown, revoked, expired, or of the wrong kind.'),
  Forbidden: refusal('The credential may not do this: read-only key, missing role, plan or closed beta.'),
  Invalid: { description: 'The request does not have the documented shape.', ...json({ $ref: '#/components/schemas/ValidationFailure' }) },
}

function operation(name: string, row: Row, schemas: Schemas): Json {
  const schemaOf = (type: z.ZodType, io: Io) => inComponents(type, io, schemas)
  const answer = () => ({ content: { [row.media ?? 'application/json']: { schema: schemaOf(row.returns, 'output') } } })
  return {
    operationId: name,
    tags: [row.tag],
    summary: row.summary,
    ...(row.deprecated ? { deprecated: true } : {}),
    description: [row.description, ...notes(row)].filter(Boolean).join('\n\n') || row.summary,
    security: [...securityOf[row.auth], ...(row.userToken ? [{ userToken: [] }] : [])],
    ...parametersOf(row, schemaOf),
    ...(row.body ? { requestBody: { required: !row.body.safeParse(undefined).success, ...json(schemaOf(row.body, 'input')) } } : {}),
    responses: {
      ...(row.status === 204 ? { 204: { description: 'Done.' } } : { 200: { description: 'Done.', ...answer() } }),
      ...(row.goesOn ? { 202: { description: 'Begun; the work goes on.', ...answer() } } : {}),
      ...Object.fromEntries(Object.entries({ ...usualRefusals(row), ...row.refusals }).map(([status, text]) => [status, refusal(text)])),
      ...(row.auth === 'none'
        ? {}
        : { 401: { $ref: '#/components/responses/Unauthenticated' }, 403: { $ref: '#/components/responses/Forbidden' } }),
      422: { $ref: '#/components/responses/Invalid' },
    },
  }
}

/** What follows from the kind of row. */
const usualRefusals = ({ auth, idempotent }: Row): Record<number, string> => ({
  ...(auth === 'management' ? { 400: 'The request names another deployment.', 404: 'No such organisation that the key can reach.' } : {}),
  ...(idempotent ? { 409: 'The idempotency key belongs to another request, or to one that is still being executed.' } : {}),
})

function notes(row: Row): string[] {
  const notes: string[] = []
  if (row.deprecated) notes.push(`Deprecated since ${row.deprecated.since}. ${row.deprecated.instead}`)
  if (row.aliases) notes.push(`Also answers at ${row.aliases.map((alias) => `\`${alias}\``).join(', ')}.`)
  if (row.plan) notes.push('Top plan only.')
  if (row.scope === 'org') notes.push('Needs an Org Management Key.')
  if (row.beta) notes.push(`Closed beta \`${row.beta}\`: the operator enables it for a team.`)
  if (row.sandbox) notes.push('Sandbox only.')
  return notes
}

const idempotencyHeaders = [
  {
    name: 'X-Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The first outcome under this key is kept for at least 24 hours and answered again to every repetition.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  {
    name: 'X-Idempotency-Error',
    in: 'header',
    required: false,
    description: '`no-cache` keeps successes only.',
    // An enumeration of one would be filled into every example.
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
