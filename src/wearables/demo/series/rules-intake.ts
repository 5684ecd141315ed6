import { randomInteger } from '../../../platform/seeded-random.ts'
import { type Day, minutesEvery } from '../rules-day.ts'
import { period, point, roundTo, timeOf } from '../rules-times.ts'

/** Glucose rises after each meal and falls within three hours. */
export function glucoseAt({ person, meals }: Day, minute: number) {
  const rises = meals.map(({ at, carbs }) => {
    const since = (minute - at) / 45
    return since > 0 ? (carbs / 22) * since * Math.exp(1 - since) : 0
  })
  return person.glucose + rises.reduce((sum, rise) => sum + rise, 0)
}

/** A sensor measures every five minutes, a meter before and after meals. */
export function glucose(day: Day, isSensor: boolean) {
  const random = day.random('glucose')
  const minutes = isSensor ? minutesEvery(day, 5) : [day.night.wake + 10, ...day.meals.map(({ at }) => at + 90)]
  return minutes.map((minute) => point(day, minute, roundTo(glucoseAt(day, minute) + 0.3 * random() - 0.15, 1)))
}

export const carbohydrates = (day: Day) => day.meals.map(({ at, carbs }) => period(day, at, at + 20, carbs))

/** Rapid-acting insulin with meals, long-acting insulin in the evening. */
export const insulin = (day: Day) => [
  ...day.meals.map(({ at, carbs }) =>
    period(day, at - 10, at - 9, roundTo(carbs / 10), { type: 'rapid_acting', delivery_mode: 'bolus', bolus_purpose: 'meal' }),
  ),
  period(day, 1290, 1291, 12, { type: 'long_acting', delivery_mode: 'basal' }),
]

export const notes = (day: Day) =>
  day.meals.map(({ at, name, dish }) => period(day, at + 20, at + 21, `${dish} for ${name}.`, { tags: ['food'] }))

export function water(day: Day) {
  const random = day.random('water')
  return [450, 600, 760, 900, 1080, 1200].map((minute) => point(day, minute, 50 * randomInteger(random, 3, 7)))
}

export const caffeine = (day: Day) => [period(day, 490, 500, 0.09), period(day, 820, 830, 0.06)]

/** Pushed meals with the same carbohydrates as the samples. */
export const mealSummaries = (day: Day) =>
  day.meals.map(({ name, at, carbs, dish }) => {
    const [protein, fat] = [Math.round(carbs * 0.4), Math.round(carbs * 0.3)]
    const food = {
      energy: { unit: 'kcal', value: 4 * carbs + 4 * protein + 9 * fat },
      macros: { carbs, protein, fats: { total: fat }, fibre: 6 },
    }
    return {
      provider_id: `demo-${day.date}-${name}`,
      timestamp: timeOf(day, at),
      calendar_date: day.date,
      name: dish,
      ...food,
      data: { [dish]: food },
    }
  })
