import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import type { SeriesName } from '../../../contract/wearables/series.ts'
import { randomInteger } from '../../../platform/seeded-random.ts'
import type { Day } from '../rules-day.ts'
import { deviceOf, isSensor } from '../rules-devices.ts'
import { hasPassed, type NewSample, period, point, roundTo } from '../rules-times.ts'
import { lungFunction } from './rules-body.ts'
import * as heart from './rules-heart.ts'
import * as intake from './rules-intake.ts'
import * as motion from './rules-motion.ts'
import * as night from './rules-night.ts'

/** Series that summaries embed: body measurements and sleep stages. */
type EmbeddedSeries = 'body_weight' | 'body_fat' | 'body_mass_index' | 'lean_body_mass' | 'waist_circumference' | 'hypnogram'

export type OwnSeries = Exclude<SeriesName, EmbeddedSeries>

/** Every resource has at least one sample per day. */
const demoSeries: Record<OwnSeries, (day: Day, isSensor: boolean) => NewSample[]> = {
  calories_active: motion.caloriesActive,
  calories_basal: motion.caloriesBasal,
  steps: motion.steps,
  distance: motion.distance,
  floors_climbed: motion.floorsClimbed,
  stand_hour: motion.standHour,
  stand_duration: motion.standDuration,
  daylight_exposure: motion.daylight,
  uv_exposure: motion.uvExposure,
  wheelchair_push: motion.zeroWhileAwake,
  fall: motion.zeroWhileAwake,
  workout_duration: (day) => motion.workoutSample(day, motion.workoutMinutes(day), { intensity: day.workout.sport.intensity }),
  workout_distance: (day) => motion.workoutSample(day, motion.workoutDistance(day)),
  workout_swimming_stroke: (day) => motion.workoutSample(day, day.workout.sport.strokes * motion.workoutMinutes(day)),
  heartrate: heart.heartrate,
  heart_rate_alert: heart.heartRateAlert,
  heart_rate_recovery_one_minute: heart.recovery,
  electrocardiogram_voltage: heart.voltage,
  blood_pressure: heart.bloodPressure,
  stress_level: heart.stressLevel,
  vo2_max: (day) => motion.workoutSample(day, roundTo(15 * (day.person.maxHeartRate / day.person.resting) - 8, 1)),
  hrv: night.hrv,
  respiratory_rate: night.respiratoryRate,
  blood_oxygen: night.bloodOxygen,
  sleep_breathing_disturbance: night.breathingDisturbance,
  sleep_apnea_alert: night.zeroOvernight,
  afib_burden: night.zeroOvernight,
  basal_body_temperature: night.basalBodyTemperature,
  body_temperature: night.bodyTemperature,
  body_temperature_delta: night.bodyTemperatureDelta,
  glucose: intake.glucose,
  carbohydrates: intake.carbohydrates,
  insulin_injection: intake.insulin,
  note: intake.notes,
  water: intake.water,
  caffeine: intake.caffeine,
  forced_expiratory_volume_1: lungFunction(3.1, 2),
  forced_vital_capacity: lungFunction(3.8, 2),
  peak_expiratory_flow_rate: lungFunction(430, 0),
  inhaler_usage: (day) => [period(day, day.night.wake + 35, day.night.wake + 36, randomInteger(day.random('inhaler'), 0, 1))],
  handwashing: (day) => day.meals.map(({ at }) => period(day, at - 5, at - 4.5, 1)),
  mindfulness_minutes: (day) => [period(day, 1260, 1270, 10)],
  cholesterol: (day) => fromLab(day, { total: 4.7, hdl: 1.5, ldl: 2.6, triglycerides: 1.1 }),
  ige: (day) => fromLab(day, { birch: 31, hazelnut: 12 }),
  igg: (day) => fromLab(day, { milk: 9800, egg: 4200 }),
}

export const ownSeries = Object.keys(demoSeries) as OwnSeries[]

export type DaySamples = Record<OwnSeries, NewSample[]>

/** The samples of a day until `until`. */
export function samplesUntil(day: Day, source: SourceSlug, until: number): DaySamples {
  const isPast = hasPassed(day, day.minutes + 60, until)
  const entries = ownSeries.map((name) => {
    const type = deviceOf(source, name)
    const generated = demoSeries[name](day, isSensor(source)).map((sample): NewSample => ({ type, ...sample }))
    return [name, isPast ? generated : generated.filter(({ start_date, end_date }) => Date.parse(end_date ?? start_date) <= until)]
  })
  return Object.fromEntries(entries) as DaySamples
}

/** Lab values of the morning, which hardly change. */
const fromLab = (day: Day, values: Record<string, number>) =>
  Object.entries(values).map(([type, value]) =>
    point(day, day.night.wake + 15, roundTo(value * (1 + 0.04 * (day.random(type)() - 0.5)), 2), { type }),
  )
