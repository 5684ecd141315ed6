import { eventNames } from '../../contract/delivery/events.ts'
import type { Fault } from '../../contract/faults.ts'
import { findNearest } from '../../contract/nearest.ts'
import { Problem } from '../../platform/problem.ts'

/** Wildcard patterns to suggest, such as `labtest.*`. */
const wildcards = [...new Set(eventNames.flatMap((name) => name.split('.').map((_, i, words) => [...words.slice(0, i), '*'].join('.'))))]

/** Rejects a list with a pattern that matches no event type, because it would never find anything. */
export const checkEventTypes = (patterns: readonly string[] | null | undefined, loc: string[]) =>
  throwIfAny((patterns ?? []).flatMap((pattern, i) => faultsOf(pattern, [...loc, i])))

/** Rejects a pattern that matches no event type. */
export const checkEventType = (pattern: string | null | undefined, loc: string[]) => throwIfAny(pattern ? faultsOf(pattern, loc) : [])

function throwIfAny(faults: Fault[]) {
  if (faults.length) throw new Problem('invalid', faults)
}

const faultsOf = (pattern: string, loc: Fault['loc']): Fault[] =>
  eventNames.some((name) => matches(pattern, name)) ? [] : [{ type: 'enum', loc, msg: remedyFor(pattern) }]

const matches = (pattern: string, name: string) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)

function remedyFor(pattern: string) {
  const near = findNearest(pattern, pattern.endsWith('*') ? wildcards : eventNames)
  const fault = pattern.endsWith('*') ? 'No event type starts with this prefix.' : 'This is not an event type.'
  return `${fault} ${near ? `Did you mean ${near}?` : 'GET /event-types lists them all.'}`
}
