import { type EventName, isEventName, messageOf } from '../contract/events.ts'
import { faultsOf } from '../contract/faults.ts'

/** Returns a function that lists the fields in which an event differs from its schema, never their values: they can be a patient's. */
export function schemaChecker() {
  const shapes = new Map<EventName, ReturnType<typeof messageOf>>()
  const shapeOf = (name: EventName) => {
    const shape = shapes.get(name) ?? messageOf(name)
    shapes.set(name, shape)
    return shape
  }
  return (event: { event_type: string }): string[] => {
    if (!isEventName(event.event_type)) return ['event_type: this version of assay does not know the type']
    const { error } = shapeOf(event.event_type).safeParse(event)
    return error ? faultsOf(error, 'event', event).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`) : []
  }
}
