import { type Method, phases, statusOfStep, stepsOf } from '../../contract/labs/lifecycle.ts'

type BoundedCount = { count: number; at_least: boolean }

/** The store counts up to `limit` plus one. */
export const boundedCount = (count: number, limit: number): BoundedCount => ({ count: Math.min(count, limit), at_least: count > limit })

const sum = (counts: BoundedCount[]): BoundedCount => ({
  count: counts.reduce((all, { count }) => all + count, 0),
  at_least: counts.some(({ at_least }) => at_least),
})

type StepCount = { low_level: string; method: Method; count: number }

/** Counts orders by status and by phase. A step that reached its limit makes both counts a lower bound. */
export function stagesOf(counts: StepCount[], limit: number) {
  const truncatedSteps = new Set(counts.map(({ low_level }) => low_level).filter((low) => totalOf(counts, low) > limit))
  const steps = counts.map(({ low_level, method, count }) => ({
    stage: stepsOf(method)[low_level]?.phase as string,
    status: statusOfStep(method, low_level),
    count: Math.min(count, limit),
    at_least: truncatedSteps.has(low_level),
  }))
  const stages = phases.map((stage) => ({ stage, ...sum(steps.filter((step) => step.stage === stage)) }))
  const { count, at_least } = stages.find(({ stage }) => stage === 'sample_with_lab') as BoundedCount
  return { steps, stages, results_waiting: { count, at_least } }
}

const totalOf = (counts: StepCount[], low: string) =>
  sum(counts.filter(({ low_level }) => low_level === low).map(({ count }) => ({ count, at_least: false }))).count

type MinuteCount = { minute: string; events: number; data: number }

const exceeds = (counts: MinuteCount[], limit: number) => total(counts.map(({ events }) => events)) > limit

const total = (amounts: number[]) => amounts.reduce((sum, amount) => sum + amount, 0)

/** Counts wearable events by hour. If the count reached its limit, the oldest hour is incomplete and left out. */
export function ingestionOf(counts: MinuteCount[], limit: number) {
  const byHour = new Map<string, number>()
  for (const { minute, data } of counts) byHour.set(hourOf(minute), (byHour.get(hourOf(minute)) ?? 0) + data)
  const isTruncated = exceeds(counts, limit)
  const hours = [...byHour].slice(isTruncated ? 1 : 0).map(([hour, events]) => ({ hour, events }))
  return { hours, count: total(hours.map(({ events }) => events)), at_least: isTruncated }
}

const hourOf = (minute: string) => `${minute.slice(0, 13)}:00:00.000Z`

/** Counts all events by minute since `since`. If the count reached its limit, the oldest minute is left out. */
export function pulseOf(counts: MinuteCount[], since: string, limit: number) {
  const recent = counts.filter(({ minute }) => minute >= `${since.slice(0, 16)}:00.000Z`)
  const isTruncated = exceeds(counts, limit) && recent.length === counts.length
  const minutes = recent.slice(isTruncated ? 1 : 0).map(({ minute, events }) => ({ minute, events }))
  return { minutes, count: total(minutes.map(({ events }) => events)), at_least: isTruncated }
}

type AttemptStats = { attempts: number; truncated: boolean; delivered: number; p50_ms: number | null; p95_ms: number | null }

export const presentStats = ({ attempts, truncated, delivered, p50_ms, p95_ms }: AttemptStats) => ({
  attempts: { count: attempts, at_least: truncated },
  delivered,
  success_rate: attempts ? delivered / attempts : null,
  p50_ms,
  p95_ms,
})
