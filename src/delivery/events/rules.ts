import type { Position } from '../../contract/delivery/log-rows.ts'
import { eventNames } from '../../contract/events.ts'
import type { Fault } from '../../contract/faults.ts'
import { findNearest } from '../../contract/nearest.ts'
import { invalid, Problem } from '../../platform/problem.ts'

/** A position in the log as an opaque cursor. The time says where to look for it. */
export const cursorOf = ({ no, at }: Position) => Buffer.from(`e${no}.${Date.parse(at)}`).toString('base64url')

/** Decodes a cursor. Anything that Assay did not issue is rejected at `loc`. */
export function parseCursor(cursor: string, loc: string[]): { no: number; at?: string } {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, no, ms] = /^e(\d{1,15})(?:\.(\d{1,14}))?$/.exec(text) ?? []
  if (no === undefined || Buffer.from(text).toString('base64url') !== cursor)
    throw invalid(loc, 'Send a cursor unchanged as you received it, or leave it out to start with the oldest event.')
  return { no: Number(no), ...(ms === undefined ? {} : { at: new Date(Number(ms)).toISOString() }) }
}

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

/** Whether a pattern of a filter matches an event type. */
export const matches = (pattern: string, name: string) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)

function remedyFor(pattern: string) {
  const near = findNearest(pattern, pattern.endsWith('*') ? wildcards : eventNames)
  const fault = pattern.endsWith('*') ? 'No event type starts with this prefix.' : 'This is not an event type.'
  return `${fault} ${near ? `Did you mean ${near}?` : 'GET /event-types lists them all.'}`
}
