import { type Method, statusOfStep, stepsOf, topLevels } from '../../contract/labs/lifecycle.ts'

type Counted = { count: number; at_least: boolean }

/** A count that stops at `most` plus one. */
export const countByStage = (found: number, most: number): Counted => ({ count: Math.min(found, most), at_least: found > most })

const sum = (counts: Counted[]): Counted => ({
  count: counts.reduce((all, { count }) => all + count, 0),
  at_least: counts.some(({ at_least }) => at_least),
})

type StepCount = { low_level: string; method: Method; count: number }

/** Orders by status and by stage. A step whose count was cut off makes both a lower bound. */
export function stagesOf(found: StepCount[], most: number) {
  const cut = new Set(found.map(({ low_level }) => low_level).filter((low) => totalOf(found, low) > most))
  const steps = found.map(({ low_level, method, count }) => ({
    stage: stepsOf(method)[low_level]?.top as string,
    status: statusOfStep(method, low_level),
    count: Math.min(count, most),
    at_least: cut.has(low_level),
  }))
  const stages = topLevels.map((stage) => ({ stage, ...sum(steps.filter((step) => step.stage === stage)) }))
  const { count, at_least } = stages.find(({ stage }) => stage === 'sample_with_lab') as Counted
  return { steps, stages, results_waiting: { count, at_least } }
}

const totalOf = (found: StepCount[], low: string) =>
  sum(found.filter(({ low_level }) => low_level === low).map(({ count }) => ({ count, at_least: false }))).count

type Minute = { minute: string; events: number; data: number }

const isCut = (found: Minute[], most: number) => total(found.map(({ events }) => events)) > most

const total = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0)

/** Wearable data by hour. If the count was cut off, the oldest hour is incomplete and left out. */
export function ingestionOf(found: Minute[], most: number) {
  const by = new Map<string, number>()
  for (const { minute, data } of found) by.set(hourOf(minute), (by.get(hourOf(minute)) ?? 0) + data)
  const cut = isCut(found, most)
  const hours = [...by].slice(cut ? 1 : 0).map(([hour, events]) => ({ hour, events }))
  return { hours, count: total(hours.map(({ events }) => events)), at_least: cut }
}

const hourOf = (minute: string) => `${minute.slice(0, 13)}:00:00.000Z`

/** All events by minute, starting with the minute of `since`. If the count was cut off, the oldest minute is left out. */
export function pulseOf(found: Minute[], since: string, most: number) {
  const recent = found.filter(({ minute }) => minute >= `${since.slice(0, 16)}:00.000Z`)
  const cut = isCut(found, most) && recent.length === found.length
  const minutes = recent.slice(cut ? 1 : 0).map(({ minute, events }) => ({ minute, events }))
  return { minutes, count: total(minutes.map(({ events }) => events)), at_least: cut }
}

type Figures = { attempts: number; cut: boolean; delivered: number; p50_ms: number | null; p95_ms: number | null }

export const figuresOf = ({ attempts, cut, delivered, p50_ms, p95_ms }: Figures) => ({
  attempts: { count: attempts, at_least: cut },
  delivered,
  success_rate: attempts ? delivered / attempts : null,
  p50_ms,
  p95_ms,
})
