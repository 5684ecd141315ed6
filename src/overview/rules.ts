import { type Method, statusOfStep, stepsOf, topLevels } from '../contract/lifecycle.ts'

type Counted = { count: number; at_least: boolean }

/** What was counted up to `most` and one more. */
export const counted = (found: number, most: number): Counted => ({ count: Math.min(found, most), at_least: found > most })

const sum = (counts: Counted[]): Counted => ({
  count: counts.reduce((all, { count }) => all + count, 0),
  at_least: counts.some(({ at_least }) => at_least),
})

type StepCount = { low_level: string; method: Method; count: number }

/** Orders by status and by stage. A step that was not counted to its end makes both a lower bound. */
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

type Hour = { hour: string; events: number; scanned: number }

/** Where not everything was looked at, the oldest hour is incomplete and is left out. */
export function ingestionOf(found: Hour[], most: number) {
  const cut = found.reduce((all, { scanned }) => all + scanned, 0) > most
  const hours = (cut ? found.slice(1) : found).map(({ hour, events }) => ({ hour, events }))
  return { hours, count: hours.reduce((all, { events }) => all + events, 0), at_least: cut }
}

type Figures = { attempts: number; cut: boolean; delivered: number; p50_ms: number | null; p95_ms: number | null }

export const figuresOf = ({ attempts, cut, delivered, p50_ms, p95_ms }: Figures) => ({
  attempts: { count: attempts, at_least: cut },
  delivered,
  success_rate: attempts ? delivered / attempts : null,
  p50_ms,
  p95_ms,
})
