import { describeEvent, type EventName, eventNames, isEventName } from '../../contract/events.ts'
import { problem } from '../../platform/problem.ts'

type EventDescription = ReturnType<typeof describeEvent>

const descriptions = new Map<string, EventDescription>()

/** Each description is built once, because the catalog never changes while the process runs. */
function describe(name: EventName) {
  const description = descriptions.get(name) ?? describeEvent(name)
  descriptions.set(name, description)
  return description
}

export const listEventTypes = async () => ({ event_types: eventNames.map(describe) })

export const getEventType = async (name: string) => describe(requireEventType(name))

export function requireEventType(name: string): EventName {
  if (isEventName(name)) return name
  throw problem('EVENT_TYPE_NOT_FOUND', 'No such event type. GET /event-types lists all of them.')
}
