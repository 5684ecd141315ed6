import type { Day } from './rules-day.ts'
import { rounded } from './rules-times.ts'
import { heartAt } from './series/rules-heart.ts'

const EVERY_SECONDS = 10
const METRES_A_DEGREE = 111_320

/** Generates the stream of the workout. */
export function streamOf(day: Day) {
  const { sport, from, to } = day.workout
  const seconds = Array.from({ length: ((to - from) * 60) / EVERY_SECONDS + 1 }, (_, i) => i * EVERY_SECONDS)
  const speed = (second: number) => rounded(sport.speed * (1 + 0.08 * Math.sin(second / 40)), 2)
  const metres = seconds.map((second) => rounded(sport.speed * second, 1))
  return {
    time: seconds.map((second) => Math.round(day.start / 1000) + from * 60 + second),
    heartrate: seconds.map((second) => rounded(heartAt(day, from + second / 60))),
    distance: metres,
    velocity_smooth: seconds.map(speed),
    cadence: seconds.map(() => sport.steps || sport.strokes || 80),
    altitude: seconds.map((second) => rounded(20 + 6 * Math.sin(second / 300), 1)),
    ...placeOf(metres),
  }
}

/** Laps of one kilometer in the Atlantic at 0° N, 0° E, where nobody lives. */
function placeOf(metres: number[]) {
  const radius = 1000 / (2 * Math.PI) / METRES_A_DEGREE
  const angles = metres.map((metre) => (metre / 1000) * 2 * Math.PI)
  return {
    lat: angles.map((angle) => rounded(radius * Math.sin(angle), 6)),
    lng: angles.map((angle) => rounded(radius * Math.cos(angle), 6)),
  }
}
