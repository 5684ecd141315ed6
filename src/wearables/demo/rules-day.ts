import { type Random, randomInteger, seededRandom } from '../../platform/seeded-random.ts'
import { DAY, MINUTE } from '../../platform/time.ts'
import { type Person, personOf } from './rules-person.ts'
import { type Stage, stagesOf } from './series/rules-stages.ts'

export const QUARTER = 15

type Workout = { sport: Sport; from: number; to: number }

/** One local day of a person, from midnight to midnight. Times are minutes from its start. */
export type Day = {
  person: Person
  date: string
  start: number
  /** The length of the day, which differs on clock changes. */
  minutes: number
  /** The night that ends on this day. It begins before midnight. */
  night: { bed: number; wake: number }
  stages: Stage[]
  /** The bedtime in the evening. */
  evening: number
  workout: Workout
  meals: { name: string; at: number; carbs: number; dish: string }[]
  random(about: string): Random
}

type Zone = (at: number) => number | null

/** The start of a calendar day of the user. */
export function startOf(date: string, zoneAt: Zone) {
  const midnight = Date.parse(date)
  const guess = midnight - (zoneAt(midnight) ?? 0) * 1000
  return midnight - (zoneAt(guess) ?? 0) * 1000
}

export const dayAfter = (date: string, days = 1) => new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10)

/** Night, workout and meals depend only on user and date, so that sources describe the same day with their own errors. */
export function dayOf(source: string, user_id: string, date: string, zoneAt: Zone): Day {
  const person = personOf(user_id)
  const start = startOf(date, zoneAt)
  const night = nightOf(person, date)
  const random = (about: string) => seededRandom('demo', user_id, source, date, about)
  return {
    ...{ person, date, start, random },
    minutes: (startOf(dayAfter(date), zoneAt) - start) / MINUTE,
    night,
    stages: stagesOf(night, random('stages')),
    evening: 1440 + nightOf(person, dayAfter(date)).bed,
    workout: workoutOf(person, date),
    meals: mealsOf(seededRandom('demo meals', user_id, date)),
  }
}

function nightOf({ user_id, bed, wake }: Person, date: string) {
  const random = seededRandom('demo night', user_id, date)
  return { bed: bed + randomInteger(random, -15, 15), wake: wake + randomInteger(random, -20, 20) }
}

type Sport = {
  slug: string
  title: string
  /** Meters per second; steps, strokes and kilocalories per minute. */
  speed: number
  steps: number
  strokes: number
  energy: number
  /** The effort, as a share of the heart rate reserve. */
  share: number
  intensity: 'low' | 'medium' | 'high'
}

const sports: [Sport, ...Sport[]] = [
  { slug: 'walking', title: 'Walk', speed: 1.4, steps: 112, strokes: 0, energy: 4, share: 0.35, intensity: 'low' },
  { slug: 'running', title: 'Run', speed: 2.7, steps: 162, strokes: 0, energy: 10, share: 0.7, intensity: 'high' },
  { slug: 'cycling', title: 'Ride', speed: 5.8, steps: 0, strokes: 0, energy: 7, share: 0.55, intensity: 'medium' },
  { slug: 'swimming', title: 'Swim', speed: 0.8, steps: 0, strokes: 24, energy: 8, share: 0.6, intensity: 'medium' },
]

/** Every day has a workout, so that any single day shows one. */
function workoutOf({ user_id }: Person, date: string): Workout {
  const random = seededRandom('demo workout', user_id, date)
  const sport = sports[(Date.parse(date) / DAY + (user_id.codePointAt(0) ?? 0)) % sports.length] ?? sports[0]
  const from = QUARTER * randomInteger(random, 68, 74)
  return { sport, from, to: from + QUARTER * randomInteger(random, 2, 4) }
}

const dishes = {
  breakfast: ['Oats with apple', 'Bread with cheese', 'Yogurt with berries'],
  lunch: ['Lentil soup', 'Rice with vegetables', 'Potato salad'],
  dinner: ['Pasta with spinach', 'Fish with potatoes', 'Bean stew'],
}

const mealsOf = (random: Random) =>
  Object.entries(dishes).map(([name, list], i) => ({
    name,
    at: ([480, 750, 1170][i] as number) + randomInteger(random, -20, 20),
    carbs: randomInteger(random, 35, 75),
    dish: list[randomInteger(random, 0, list.length - 1)] as string,
  }))

export const isAwake = ({ night, evening }: Day, minute: number) => minute >= night.wake && minute < evening

/** The full hours awake. */
export const wakingHours = (day: Day) =>
  Array.from({ length: 24 }, (_, hour) => hour * 60).filter((minute) => isAwake(day, minute) && isAwake(day, minute + 59))

/** The minutes of a day at an interval. */
export const minutesEvery = ({ minutes }: Day, length: number) => Array.from({ length: Math.floor(minutes / length) }, (_, i) => i * length)
