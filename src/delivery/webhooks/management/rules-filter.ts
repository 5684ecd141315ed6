import { eventNames } from '../../../contract/delivery/events.ts'
import { findNearest } from '../../../contract/nearest.ts'
import { Problem } from '../../../platform/problem.ts'

/** Wildcard patterns to suggest, such as `labtest.*`. */
const wildcards = [...new Set(eventNames.flatMap((name) => name.split('.').map((_, i, words) => [...words.slice(0, i), '*'].join('.'))))]

/** Rejects a filter that matches no event type, because it would never deliver anything. */
export function checkFilter(patterns: readonly string[] | null | undefined) {
  const faults = (patterns ?? []).flatMap((pattern, i) =>
    eventNames.some((name) => matches(pattern, name))
      ? []
      : [{ type: 'enum' as const, loc: ['body', 'filter_types', i], msg: remedyFor(pattern) }],
  )
  if (faults.length) throw new Problem('invalid', faults)
}

const matches = (pattern: string, name: string) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)

function remedyFor(pattern: string) {
  const near = findNearest(pattern, pattern.endsWith('*') ? wildcards : eventNames)
  const fault = pattern.endsWith('*') ? 'No event type starts with this prefix.' : 'This is not an event type.'
  return `${fault} ${near ? `Did you mean ${near}?` : 'GET /event-types lists them all.'}`
}
