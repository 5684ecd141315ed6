import type { Tone } from '../../ui/basics.tsx'

/** A colour, and the same in a word for whoever does not see it. */
export type Verdict = { tone: Tone; word: string }

const MINUTE = 60_000

/** The first line that holds is said. */
const delivered = [
  { from: 0.99, tone: 'good', word: 'Healthy' },
  { from: 0.9, tone: 'warn', word: 'Some fail' },
  { from: 0, tone: 'bad', word: 'Failing' },
] as const

const waiting = [
  { messages: 1_000, ms: 60 * MINUTE, tone: 'bad', word: 'Far behind' },
  { messages: 100, ms: 5 * MINUTE, tone: 'warn', word: 'Behind' },
] as const

/** Of the share of attempts that were delivered. */
export const verdictOnDelivered = (share: number | null): Verdict | undefined =>
  share === null ? undefined : delivered.find(({ from }) => share >= from)

/** Of how many messages wait, and for how long the oldest of them does. */
export const verdictOnWaiting = (count: number, oldest_at: string | null, now: number): Verdict | undefined => {
  const age = oldest_at ? now - Date.parse(oldest_at) : 0
  return waiting.find(({ messages, ms }) => count >= messages || age >= ms)
}
