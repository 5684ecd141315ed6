import { refTo, registerSchema, type Schemas, sortByName } from './components.ts'
import { EventEnvelope, type EventType } from './delivery/event.ts'
import { ThinEvent } from './delivery/formats.ts'
import { type EventName, eventNames, eventTypes, exampleOf, isWithoutUser } from './events.ts'
import type { Json } from './json-schema.ts'
import { version } from './version.ts'

/** The AsyncAPI 3.0 document of the messages to webhooks, generated from the event catalog. */
export function asyncapi(): Json {
  const schemas: Schemas = new Map()
  const events = Object.fromEntries(eventNames.map((name) => [name, messageOf(name, schemas)]))
  const messages = { ...events, thin: thinMessage(schemas) }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Assay events',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      webhook: {
        title: 'Webhook',
        description: 'The URL of your webhook. It receives the event types in filter_types. Messages with the same key arrive in order.',
        messages: Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: {
      deliver: {
        action: 'send',
        channel: { $ref: '#/channels/webhook' },
        summary: 'Assay posts each event at least once and retries until the webhook responds with 2xx or the attempts are used up.',
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: { messages, messageTraits: { signed: { headers } }, schemas: sortByName(schemas) },
  }
}

const introduction = `
Assay posts events to your webhooks and signs them according to Standard Webhooks. Verify \`webhook-signature\` over
\`webhook-id.webhook-timestamp.body\` with the secret of the webhook. \`GET /events\` and \`GET /events/stream\` return the same messages.
Messages with the same \`x-ordering-key\` arrive in the order in which they happened. Tolerate unknown fields: new ones can be added.
`.trim()

const text = (description: string) => ({ type: 'string', description })

const headers = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-key', 'webhook-sequence'],
  properties: {
    'webhook-id': text('The event_id, the same for every attempt and resend. Also sent as svix-id.'),
    'webhook-timestamp': text('When the attempt was sent, in seconds since 1970. Also sent as svix-timestamp.'),
    'webhook-signature': text('One signature for each valid secret or key, separated by spaces. Also sent as svix-signature.'),
    'webhook-key': text('The ordering key.'),
    'webhook-sequence': text(
      'The position of the event in the log of the team. It increases, with gaps between the messages of a webhook.',
    ),
    'webhook-previous': text(
      'The webhook-sequence of the message before it for this webhook. Absent for the first message, and for messages that are replayed, recovered or resent.',
    ),
  },
}

function messageOf(name: EventName, schemas: Schemas): Json {
  const { description, key } = eventTypes[name] as EventType
  return {
    name,
    title: name,
    summary: description,
    'x-ordering-key': key,
    traits: [{ $ref: '#/components/messageTraits/signed' }],
    payload: {
      allOf: [
        registerSchema(EventEnvelope, 'output', schemas),
        {
          type: 'object',
          properties: { event_type: { const: name }, data: dataOf(name, schemas), ...(isWithoutUser(name) ? noUser : {}) },
        },
      ],
    },
    examples: [{ name: 'example', payload: exampleOf(name) }],
  }
}

/** The only message of a webhook in the format `thin`. */
const thinMessage = (schemas: Schemas): Json => ({
  name: 'thin',
  title: 'An event in the format thin',
  summary:
    'The message of every event type, if the format of the webhook is thin. The ticket opens the event at GET /events/tickets/{ticket}.',
  traits: [{ $ref: '#/components/messageTraits/signed' }],
  payload: registerSchema(ThinEvent, 'output', schemas),
})

const noUser = { user_id: { type: 'null' }, client_user_id: { type: 'null' } }

/** Event types with the same payload share one schema, named after the first type without its last part: `labtest.appointment`. */
function dataOf(name: EventName, schemas: Schemas): Json {
  const schema = registerSchema((eventTypes[name] as EventType).data, 'output', schemas)
  if ('$ref' in schema) return schema
  const existing = [...schemas].find(([, entry]) => JSON.stringify(entry.schema) === JSON.stringify(schema))?.[0]
  const family = name.replace(/\.\w+$/, '')
  const id = existing ?? (schemas.has(family) ? name : family)
  schemas.set(id, { io: 'output', schema })
  return refTo(id)
}
