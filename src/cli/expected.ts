import { type EventName, isEventName, messageOf } from '../contract/delivery/events.ts'
import { faultsOf } from '../contract/faults.ts'

/** Where an event is not what the catalogue promises, by the names of its fields; never by their values, which may be a patient's. */
export function mismatchesOf(event: { event_type: string }): string[] {
  if (!isEventName(event.event_type)) return ['event_type: the catalogue of this version has no such type']
  const { error } = shapeOf(event.event_type).safeParse(event)
  return error ? faultsOf(error, 'event', event).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`) : []
}

const shapes = new Map<EventName, ReturnType<typeof messageOf>>()

function shapeOf(name: EventName) {
  const shape = shapes.get(name) ?? messageOf(name)
  shapes.set(name, shape)
  return shape
}
