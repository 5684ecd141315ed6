import { randomNormal } from '../../../platform/seeded-random.ts'
import type { Day } from '../rules-day.ts'
import { period, roundTo } from '../rules-times.ts'

/** The measurements of the scale. The weight follows a slow wave. */
export function bodyOf({ person, date, random }: Day) {
  const noise = random('body')
  const weight = roundTo(person.weight + 0.8 * Math.sin(Date.parse(date) / 86_400_000 / 9) + 0.15 * randomNormal(noise), 1)
  const fat = roundTo(person.fat + 0.3 * randomNormal(noise), 1)
  return {
    body_mass: weight,
    body_fat_percentage: fat,
    body_mass_index: roundTo(weight / (person.height / 100) ** 2, 1),
    lean_body_mass: roundTo(weight * (1 - fat / 100), 1),
    waist_circumference: roundTo(person.height * 0.45, 1),
  }
}

export const weighedAt = ({ night }: Day) => night.wake + 10

/** One measurement of lung function in the morning. */
export function lungFunction(mean: number, places: number) {
  return (day: Day) => [
    period(day, day.night.wake + 30, day.night.wake + 31, roundTo(mean * (1 + 0.02 * randomNormal(day.random(`lungs ${mean}`))), places)),
  ]
}
