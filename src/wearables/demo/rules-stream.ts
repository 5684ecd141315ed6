import type { Day } from './rules-day.ts'
import { roundTo } from './rules-times.ts'
import { heartRateAt } from './series/rules-heart.ts'

const EVERY_SECONDS = 10
const METERS_PER_DEGREE = 111_320

/** Generates the stream of the workout. */
export function streamOf(day: Day) {
  const { sport, from, to } = day.workout
  const seconds = Array.from({ length: ((to - from) * 60) / EVERY_SECONDS + 1 }, (_, i) => i * EVERY_SECONDS)
  const speed = (second: number) => roundTo(sport.speed * (1 + 0.08 * Math.sin(second / 40)), 2)
  const meters = seconds.map((second) => roundTo(sport.speed * second, 1))
  return {
    time: seconds.map((second) => Math.round(day.start / 1000) + from * 60 + second),
    heartrate: seconds.map((second) => roundTo(heartRateAt(day, from + second / 60))),
    distance: meters,
    velocity_smooth: seconds.map(speed),
    cadence: seconds.map(() => sport.steps || sport.strokes || 80),
    altitude: seconds.map((second) => roundTo(20 + 6 * Math.sin(second / 300), 1)),
    ...trackOf(meters),
  }
}

/** Laps of one kilometer in the Atlantic at 0° N, 0° E, where nobody lives. */
function trackOf(meters: number[]) {
  const radius = 1000 / (2 * Math.PI) / METERS_PER_DEGREE
  const angles = meters.map((meter) => (meter / 1000) * 2 * Math.PI)
  return {
    lat: angles.map((angle) => roundTo(radius * Math.sin(angle), 6)),
    lng: angles.map((angle) => roundTo(radius * Math.cos(angle), 6)),
  }
}
