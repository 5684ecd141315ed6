import { z } from 'zod'
import { deliveryEvents } from './delivery/delivery-events.ts'
import { EventEnvelope, type EventType, exampleValues } from './delivery/event.ts'
import { toSchema } from './json-schema.ts'
import { labEvents } from './labs/lab-events.ts'
import { auditEvents } from './tenants/audit-events.ts'
import { userEvents } from './tenants/user-events.ts'
import { dataEvents } from './wearables/data-events.ts'
import { providerEvents } from './wearables/provider-events.ts'

/** The event catalog. */
export const eventTypes = { ...userEvents, ...labEvents, ...providerEvents, ...deliveryEvents, ...auditEvents, ...dataEvents }

export type EventName = keyof typeof eventTypes

/** The payload of an event type. */
export type DataOf<N extends EventName> = z.input<(typeof eventTypes)[N]['data']>

export const eventNames = Object.keys(eventTypes) as EventName[]

export const isEventName = (name: string): name is EventName => Object.hasOwn(eventTypes, name)

/** Types of events that are not about a user. */
const typesWithoutUser = new Set<string>(Object.keys({ ...deliveryEvents, ...auditEvents }))

export const isWithoutUser = (name: EventName) => typesWithoutUser.has(name)

/** The shape of a whole message, for receivers that validate it. */
export const messageOf = (name: EventName) => {
  const person = typesWithoutUser.has(name) ? { user_id: z.null(), client_user_id: z.null() } : {}
  return EventEnvelope.extend({ event_type: z.literal(name), data: eventTypes[name].data, ...person })
}

/** An example message; `change` replaces fields such as the team and the user. */
export const exampleOf = (name: EventName, change: Partial<EventEnvelope> = {}): EventEnvelope => {
  const { team_id, user_id, client_user_id, later } = exampleValues
  return {
    event_type: name,
    data: eventTypes[name].example as EventEnvelope['data'],
    team_id,
    ...(typesWithoutUser.has(name) ? { user_id: null, client_user_id: null } : { user_id, client_user_id }),
    event_id: 'f4d8b1c6-2e97-4a05-8b3f-d6c0a9e57321',
    created_at: later,
    ...change,
  }
}

/** An event type as `GET /event-types` returns it. */
export function describeEvent(name: EventName) {
  const { description, key } = eventTypes[name] as EventType
  return { type: name, description, key, schema: toSchema(messageOf(name)), example: exampleOf(name) }
}
