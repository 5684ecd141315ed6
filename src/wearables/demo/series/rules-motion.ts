import { randomInteger } from '../../../platform/seeded-random.ts'
import { type Day, isAwake, minutesEvery, QUARTER, wakingHours } from '../rules-day.ts'
import { type NewSample, period, roundTo } from '../rules-times.ts'

type Quarter = { from: number; steps: number; meters: number; energy: number }

/** The share of daily steps in each hour, in percent. */
const hourlyShare = [0, 0, 0, 0, 0, 0, 2, 6, 9, 5, 4, 5, 9, 7, 4, 4, 5, 9, 7, 6, 5, 4, 3, 1]

/** The quarter hours with movement. */
export function quartersOf(day: Day): Quarter[] {
  const { person, workout, random } = day
  const noise = random('motion')
  const stride = person.height * 0.00413
  return minutesEvery(day, QUARTER).flatMap((from) => {
    const variation = 0.6 + 0.8 * noise()
    if (from >= workout.from && from < workout.to) return workoutQuarter(day, from)
    if (!isAwake(day, from)) return []
    const steps = Math.round(((person.steps * (hourlyShare[Math.floor(from / 60)] ?? 0)) / 400) * variation)
    return steps ? { from, steps, meters: roundTo(steps * stride, 1), energy: roundTo(steps * 0.04, 1) } : []
  })
}

const workoutQuarter = ({ workout: { sport } }: Day, from: number): Quarter => ({
  from,
  steps: sport.steps * QUARTER,
  meters: roundTo(sport.speed * QUARTER * 60, 1),
  energy: sport.energy * QUARTER,
})

const inQuarters = (of: (quarter: Quarter) => number) => (day: Day) =>
  quartersOf(day)
    .filter((quarter) => of(quarter) > 0)
    .map((quarter) => period(day, quarter.from, quarter.from + QUARTER, of(quarter)))

export const steps = inQuarters((quarter) => quarter.steps)
export const distance = inQuarters((quarter) => quarter.meters)
export const caloriesActive = inQuarters((quarter) => quarter.energy)

/** The energy burned at rest, per hour. */
export function caloriesBasal(day: Day): NewSample[] {
  const { weight, height } = day.person
  const perHour = roundTo((10 * weight + 6.25 * height - 361) / 24, 1)
  return minutesEvery(day, 60).map((minute) => period(day, minute, minute + 60, perHour))
}

export function floorsClimbed(day: Day) {
  const random = day.random('floors_climbed')
  return [8, 12, 18].map((hour) => period(day, hour * 60, hour * 60 + 15, randomInteger(random, 1, 4)))
}

export function standHour(day: Day) {
  const random = day.random('stand_hour')
  return wakingHours(day).map((minute) => period(day, minute, minute + 60, 1, { type: random() < 0.8 ? 'stood' : 'idle' }))
}

export function standDuration(day: Day) {
  const random = day.random('stand_duration')
  return wakingHours(day).map((minute) => period(day, minute, minute + 60, randomInteger(random, 3, 25)))
}

export function daylight(day: Day) {
  const random = day.random('daylight_exposure')
  return [8, 12, 17].map((hour) => period(day, hour * 60, hour * 60 + 60, randomInteger(random, 5, 40)))
}

export const uvExposure = (day: Day) =>
  [11, 12, 13].map((hour) => period(day, hour * 60, hour * 60 + 60, randomInteger(day.random(`uv ${hour}`), 1, 5)))

/** One sample for the time awake with the value 0. */
export const zeroWhileAwake = (day: Day) => [period(day, day.night.wake, day.evening - 30, 0)]

/** One sample for the workout. */
export const workoutSample = (day: Day, value: number, extra: object = {}) => [period(day, day.workout.from, day.workout.to, value, extra)]

export const workoutMinutes = ({ workout }: Day) => workout.to - workout.from
export const workoutDistance = (day: Day) => roundTo(day.workout.sport.speed * 60 * workoutMinutes(day), 1)
