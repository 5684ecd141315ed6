import { byName, inComponents, refTo, type Schemas } from './components.ts'
import { EventEnvelope, type EventType } from './delivery/event.ts'
import { type EventName, eventNames, eventTypes, exampleOf, isAboutNobody } from './delivery/events.ts'
import type { Json } from './json-schema.ts'
import { version } from './version.ts'

/** The AsyncAPI 3.0 document: what webhooks are sent, made from the catalogue of events alone. */
export function asyncapi(): Json {
  const schemas: Schemas = new Map()
  const messages = Object.fromEntries(eventNames.map((name) => [name, messageOf(name, schemas)]))
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
        title: 'A webhook',
        description: 'The URL that you gave it. Messages of one key come in their order; filter_types says which types come at all.',
        messages: Object.fromEntries(eventNames.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: {
      deliver: {
        action: 'send',
        channel: { $ref: '#/channels/webhook' },
        summary: 'Every event is posted until it is answered with 2xx, at least once.',
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: { messages, messageTraits: { signed: { headers } }, schemas: byName(schemas) },
  }
}

const introduction = `
Events are posted to webhooks, signed by Standard Webhooks: verify \`webhook-signature\` over \`webhook-id.webhook-timestamp.body\` with the
secret of the webhook. The same messages are read at \`GET /events\` and \`GET /events/stream\`. Messages with one \`x-ordering-key\` come in the order
in which they happened. Fields may be added: tolerate those that you do not know.
`.trim()

const text = (description: string) => ({ type: 'string', description })

const headers = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-key', 'webhook-sequence'],
  properties: {
    'webhook-id': text('The event_id, the same for every try and every resend. Also as svix-id.'),
    'webhook-timestamp': text('When it was sent, in seconds. Also as svix-timestamp.'),
    'webhook-signature': text('One signature for each valid secret or key, divided by spaces. Also as svix-signature.'),
    'webhook-key': text('What keeps its order.'),
    'webhook-sequence': text('The number of the message under that key: 1, 2, 3 without a gap.'),
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
        inComponents(EventEnvelope, 'output', schemas),
        {
          type: 'object',
          properties: { event_type: { const: name }, data: dataOf(name, schemas), ...(isAboutNobody(name) ? nobody : {}) },
        },
      ],
    },
    examples: [{ name: 'example', payload: exampleOf(name) }],
  }
}

const nobody = { user_id: { type: 'null' }, client_user_id: { type: 'null' } }

/** Types that say the same share a shape; it has the name of the first of them. */
function dataOf(name: EventName, schemas: Schemas): Json {
  const schema = inComponents((eventTypes[name] as EventType).data, 'output', schemas)
  if ('$ref' in schema) return schema
  const known = [...schemas].find(([, one]) => JSON.stringify(one.schema) === JSON.stringify(schema))?.[0]
  const family = name.replace(/\.\w+$/, '')
  const id = known ?? (schemas.has(family) ? name : family)
  schemas.set(id, { io: 'output', schema })
  return refTo(id)
}
