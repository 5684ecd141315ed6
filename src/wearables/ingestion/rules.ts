import { DAY, HOUR, MINUTE, SECOND } from '../../platform/time.ts'

/** The waits after failures. The history fails after the last one; new data is tried again after it, without end. */
export const waits = [10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR]

export const waitAfter = (failures: number) => waits[Math.min(failures, waits.length) - 1] as number

export const isExhausted = (failures: number) => failures >= waits.length

/** The wait if a source limits requests and does not say until when. */
export const DEFAULT_BLOCK_MS = MINUTE
export const MAX_BLOCK_MS = DAY

export type Window = { from: string; to: string }

/** The newest window of the history that is left, of at most so many days. Undefined if nothing is left. */
export function nextWindow({ from, to }: { from: string | null; to: string | null }, days: number): Window | undefined {
  if (!from || !to || from >= to) return undefined
  const start = new Date(Date.parse(to) - days * DAY).toISOString()
  return { from: start > from ? start : from, to }
}

/** The window of new data: since the last read, at least the days that the source changes afterwards. */
export function liveWindow(live_until: string | null, trailingDays: number, now: string): Window {
  const trailing = Date.parse(now) - trailingDays * DAY
  const since = live_until ? Date.parse(live_until) : trailing
  return { from: new Date(Math.min(since, trailing)).toISOString(), to: now }
}

/** Joins windows that overlap or are at most a day apart, so that each is one read. */
export function joinWindows(windows: Window[]): Window[] {
  const joined: Window[] = []
  for (const window of windows.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = joined.at(-1)
    if (last && Date.parse(window.from) - Date.parse(last.to) <= DAY) last.to = window.to > last.to ? window.to : last.to
    else joined.push({ ...window })
  }
  return joined
}

/** The parts of a window of at most so many days, newest first. */
export function splitWindow(window: Window, days: number): Window[] {
  const first = nextWindow(window, days)
  return first && first.from > window.from ? [first, ...splitWindow({ from: window.from, to: first.from }, days)] : [window]
}

export type Found = Record<string, { changes: number; days: number }>

/** Adds what one window of the history contained. */
export function addFound(found: Found, changes: { resource: string; created: unknown[]; updated: unknown[]; days: number }[]): Found {
  const sum = { ...found }
  for (const { resource, created, updated, days } of changes) {
    const before = sum[resource] ?? { changes: 0, days: 0 }
    sum[resource] = { changes: before.changes + created.length + updated.length, days: before.days + days }
  }
  return sum
}

/** Why a pull failed, by the names in the Junction API. The first three pass. */
export type FailureReason =
  | 'provider_unavailable'
  | 'transport_failure'
  | 'resource_contention'
  | 'non_retriable_error'
  | 'unexpected_error'

/** What a failed attempt says about the source, by the names of historical pulls in the Junction API. */
export const reasons: Record<string, FailureReason> = {
  unavailable: 'provider_unavailable',
  malformed: 'provider_unavailable',
  refused: 'non_retriable_error',
  not_found: 'non_retriable_error',
}
