import type { SourceSlug } from '../../../../contract/tenants/sources.ts'
import type { SeriesName } from '../../../../contract/wearables/series.ts'
import { integer } from '../../../../platform/seeded.ts'
import type { Day } from '../rules-day.ts'
import { deviceOf, isSensor } from '../rules-devices.ts'
import { isOver, type NewSample, point, rounded, stretch } from '../rules-times.ts'
import { lungs } from './rules-body.ts'
import * as heart from './rules-heart.ts'
import * as intake from './rules-intake.ts'
import * as motion from './rules-motion.ts'
import * as night from './rules-night.ts'

/** Series that summaries embed: body measurements and sleep stages. */
type BroughtAlong = 'body_weight' | 'body_fat' | 'body_mass_index' | 'lean_body_mass' | 'waist_circumference' | 'hypnogram'

export type OwnSeries = Exclude<SeriesName, BroughtAlong>

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
  wheelchair_push: motion.nothingHappened,
  fall: motion.nothingHappened,
  workout_duration: (day) => motion.ofWorkout(day, motion.minutesOf(day), { intensity: day.workout.sport.intensity }),
  workout_distance: (day) => motion.ofWorkout(day, motion.metresOf(day)),
  workout_swimming_stroke: (day) => motion.ofWorkout(day, day.workout.sport.strokes * motion.minutesOf(day)),
  heartrate: heart.heartrate,
  heart_rate_alert: heart.heartRateAlert,
  heart_rate_recovery_one_minute: heart.recovery,
  electrocardiogram_voltage: heart.voltage,
  blood_pressure: heart.bloodPressure,
  stress_level: heart.stressLevel,
  vo2_max: (day) => motion.ofWorkout(day, rounded(15 * (day.person.highest / day.person.resting) - 8, 1)),
  hrv: night.hrv,
  respiratory_rate: night.respiratoryRate,
  blood_oxygen: night.bloodOxygen,
  sleep_breathing_disturbance: night.breathingDisturbance,
  sleep_apnea_alert: night.nothingFound,
  afib_burden: night.nothingFound,
  basal_body_temperature: night.basalBodyTemperature,
  body_temperature: night.bodyTemperature,
  body_temperature_delta: night.bodyTemperatureDelta,
  glucose: intake.glucose,
  carbohydrates: intake.carbohydrates,
  insulin_injection: intake.insulin,
  note: intake.notes,
  water: intake.water,
  caffeine: intake.caffeine,
  forced_expiratory_volume_1: lungs(3.1, 2),
  forced_vital_capacity: lungs(3.8, 2),
  peak_expiratory_flow_rate: lungs(430, 0),
  inhaler_usage: (day) => [stretch(day, day.night.wake + 35, day.night.wake + 36, integer(day.random('inhaler'), 0, 1))],
  handwashing: (day) => day.meals.map(({ at }) => stretch(day, at - 5, at - 4.5, 1)),
  mindfulness_minutes: (day) => [stretch(day, 1260, 1270, 10)],
  cholesterol: (day) => fromLab(day, { total: 4.7, hdl: 1.5, ldl: 2.6, triglycerides: 1.1 }),
  ige: (day) => fromLab(day, { birch: 31, hazelnut: 12 }),
  igg: (day) => fromLab(day, { milk: 9800, egg: 4200 }),
}

export const ownSeries = Object.keys(demoSeries) as OwnSeries[]

export type Known = Record<OwnSeries, NewSample[]>

/** The samples of a day until `until`. */
export function knownSamples(day: Day, source: SourceSlug, until: number): Known {
  const isPast = isOver(day, day.minutes + 60, until)
  const known = ownSeries.map((name) => {
    const type = deviceOf(source, name)
    const made = demoSeries[name](day, isSensor(source)).map((sample): NewSample => ({ type, ...sample }))
    return [name, isPast ? made : made.filter(({ start_date, end_date }) => Date.parse(end_date ?? start_date) <= until)]
  })
  return Object.fromEntries(known) as Known
}

/** Lab values of the morning, which hardly change. */
const fromLab = (day: Day, values: Record<string, number>) =>
  Object.entries(values).map(([type, value]) =>
    point(day, day.night.wake + 15, rounded(value * (1 + 0.04 * (day.random(type)() - 0.5)), 2), { type }),
  )
