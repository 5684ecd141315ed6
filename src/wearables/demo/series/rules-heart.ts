import { randomNormal } from '../../../platform/seeded-random.ts'
import { type Day, isAwake, minutesEvery, wakingHours } from '../rules-day.ts'
import { period, point, roundTo } from '../rules-times.ts'

const INTERVAL_MINUTES = 5

/** The heart rate: low in deep sleep, varying by hour, and elevated during and after the workout. */
export function heartRateAt(day: Day, minute: number): number {
  const { person, workout, stages } = day
  if (!isAwake(day, minute)) {
    const stage = stages.find(({ from, to }) => minute >= from && minute < to)?.stage ?? 'light'
    return person.resting + offsetByStage[stage]
  }
  const baseline = person.resting + 14 + 6 * Math.sin(((minute - 480) / 960) * Math.PI * 4)
  if (minute < workout.from || minute > workout.to + 20) return baseline
  const rampUp = Math.min(1, (minute - workout.from) / 6)
  const active = baseline + rampUp * (workout.sport.share * (person.maxHeartRate - baseline) + 3 * Math.sin(minute * 1.3))
  return minute <= workout.to ? active : baseline + (active - baseline) * Math.exp(-(minute - workout.to) / 5)
}

const offsetByStage = { deep: -5, light: -1, rem: 2, awake: 8 }

export function heartrate(day: Day) {
  const random = day.random('heartrate')
  return minutesEvery(day, INTERVAL_MINUTES).map((minute) => point(day, minute, roundTo(heartRateAt(day, minute) + 4 * random() - 2)))
}

export function stressLevel(day: Day) {
  const random = day.random('stress_level')
  return wakingHours(day).map((minute) => point(day, minute, roundTo(30 + 12 * Math.sin(minute / 180) + 4 * randomNormal(random))))
}

export function bloodPressure(day: Day) {
  const random = day.random('blood_pressure')
  return [day.night.wake + 25, day.evening - 40].map((minute) => ({
    start_date: point(day, minute, 0).start_date,
    systolic: point(day, minute, roundTo(117 + 4 * randomNormal(random))),
    diastolic: point(day, minute, roundTo(75 + 3 * randomNormal(random))),
    pulse: point(day, minute, roundTo(heartRateAt(day, minute))),
  }))
}

export const heartRateAlert = (day: Day) => {
  const deep = day.stages.find(({ stage, from }) => stage === 'deep' && from > 0)
  return deep ? [period(day, deep.from, deep.to, 1, { type: 'low_heart_rate' })] : []
}

export const recovery = (day: Day) => {
  const { to } = day.workout
  return [period(day, to, to + 1, roundTo(heartRateAt(day, to) - heartRateAt(day, to + 1)))]
}

const RATE = 64
const SECONDS = 4

/** The period of the electrocardiogram. */
export const recordingOf = (day: Day) => {
  const from = day.evening - 60
  return { from, to: from + SECONDS / 60, count: RATE * SECONDS, rate: RATE, bpm: roundTo(heartRateAt(day, from)) }
}

export function voltage(day: Day) {
  const { from, count, bpm } = recordingOf(day)
  return Array.from({ length: count }, (_, i) =>
    point(day, from + i / RATE / 60, roundTo(beat(((i / RATE) * bpm) / 60), 3), { type: 'lead_i' }),
  )
}

/** Height, position in the beat and width of each wave. */
const waves = [
  [0.12, 0.2, 0.025],
  [-0.1, 0.33, 0.01],
  [1.1, 0.36, 0.012],
  [-0.22, 0.39, 0.012],
  [0.3, 0.6, 0.05],
] as const

const beat = (beats: number) => {
  const phase = beats % 1
  return waves.reduce((sum, [height, at, width]) => sum + height * Math.exp(-(((phase - at) / width) ** 2) / 2), 0)
}
