import type { Tone } from '../../ui/basics.tsx'

/** A color with a text label, because color alone is not accessible. */
export type Rating = { tone: Tone; label: string }

const MINUTE_MS = 60_000

/** The first row that matches applies. */
const deliveryRatings = [
  { minRate: 0.99, tone: 'good', label: 'Healthy' },
  { minRate: 0.9, tone: 'warn', label: 'Some failing' },
  { minRate: 0, tone: 'bad', label: 'Failing' },
] as const

const backlogRatings = [
  { minMessages: 1_000, minAgeMs: 60 * MINUTE_MS, tone: 'bad', label: 'Far behind' },
  { minMessages: 100, minAgeMs: 5 * MINUTE_MS, tone: 'warn', label: 'Behind' },
] as const

export const rateDelivery = (rate: number | null): Rating | undefined =>
  rate === null ? undefined : deliveryRatings.find(({ minRate }) => rate >= minRate)

export const rateBacklog = (count: number, oldest_at: string | null, now: number): Rating | undefined => {
  const age = oldest_at ? now - Date.parse(oldest_at) : 0
  return backlogRatings.find(({ minMessages, minAgeMs }) => count >= minMessages || age >= minAgeMs)
}
