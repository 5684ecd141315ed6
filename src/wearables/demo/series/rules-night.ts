import { randomInteger, randomNormal } from '../../../platform/seeded-random.ts'
import { type Day, minutesEvery } from '../rules-day.ts'
import { period, point, roundTo } from '../rules-times.ts'
import { basalTemperature, cycleTemperature } from './rules-cycle.ts'

/** The quarter hours asleep after midnight. */
const quartersAsleep = (day: Day) => minutesEvery(day, 15).filter((minute) => minute < day.night.wake)

export function hrv(day: Day) {
  const random = day.random('hrv')
  const usual = 95 - day.person.resting
  return quartersAsleep(day).map((minute) => point(day, minute, roundTo(usual + 10 * Math.sin(minute / 45) + 3 * randomNormal(random), 1)))
}

export function respiratoryRate(day: Day) {
  const random = day.random('respiratory_rate')
  return quartersAsleep(day).map((minute) => point(day, minute, roundTo(14 + Math.sin(minute / 60) + 0.3 * randomNormal(random), 1)))
}

export function bloodOxygen(day: Day) {
  const random = day.random('blood_oxygen')
  return quartersAsleep(day).map((minute) => point(day, minute, Math.min(100, roundTo(97 + 0.6 * randomNormal(random)))))
}

/** One sample for the night. */
const nightSample = (day: Day, value: number, extra: object = {}) => [period(day, day.night.bed, day.night.wake, value, extra)]

export const breathingDisturbance = (day: Day) => nightSample(day, randomInteger(day.random('breathing'), 1, 5), { type: 'not_elevated' })

export const zeroOvernight = (day: Day) => nightSample(day, 0)

export const basalBodyTemperature = (day: Day) => [period(day, day.night.wake - 5, day.night.wake, basalTemperature(day.person, day.date))]

export const temperatureDelta = ({ person, date }: Day) => roundTo(cycleTemperature(person, date) - 0.1, 2)

export const bodyTemperatureDelta = (day: Day) => nightSample(day, temperatureDelta(day), { sensor_location: 'wrist' })

export const bodyTemperature = (day: Day) => [
  period(day, 1200, 1201, roundTo(36.7 + cycleTemperature(day.person, day.date), 1), { sensor_location: 'ear' }),
]
