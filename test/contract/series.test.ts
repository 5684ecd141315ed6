import { expect, test } from 'vitest'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'

const percent = 'fraction percent percentage'
const count = 'counts'
const celsius = 'c celsius degc'
const minutes = 'h minute minutes s'
const meters = 'ft km meter meters metre metres mi'

/** The Junction unit of each resource, and the other units that a push accepts. */
const units: Record<string, [unit: string, others: string]> = {
  afib_burden: ['%', percent],
  basal_body_temperature: ['°C', celsius],
  blood_oxygen: ['%', percent],
  blood_pressure: ['mmHg', ''],
  body_fat: ['%', percent],
  body_mass_index: ['index', 'count kg/m2 kg/m²'],
  body_temperature: ['°C', celsius],
  body_temperature_delta: ['°C', celsius],
  body_weight: ['kg', 'g kilogram kilograms lb lbs'],
  caffeine: ['g', 'gram grams mg'],
  calories_active: ['kcal', 'kj'],
  calories_basal: ['kcal', 'kj'],
  carbohydrates: ['g', 'gram grams mg'],
  cholesterol: ['mmol/L', ''],
  daylight_exposure: ['min', minutes],
  distance: ['m', meters],
  electrocardiogram_voltage: ['mV', 'uv v µv'],
  fall: ['count', count],
  floors_climbed: ['count', count],
  forced_expiratory_volume_1: ['L', 'ml'],
  forced_vital_capacity: ['L', 'ml'],
  glucose: ['mmol/L', 'mg/dl'],
  handwashing: ['count', count],
  heart_rate_alert: ['count', count],
  heart_rate_recovery_one_minute: ['count', count],
  heartrate: ['bpm', 'beats/min count/min'],
  hrv: ['rmssd', 'ms'],
  hypnogram: ['stage', 'count'],
  ige: ['FSU', ''],
  igg: ['FSU', ''],
  inhaler_usage: ['count', count],
  insulin_injection: ['unit', 'iu units'],
  lean_body_mass: ['kg', 'g kilogram kilograms lb lbs'],
  mindfulness_minutes: ['min', minutes],
  note: ['', ''],
  peak_expiratory_flow_rate: ['L/min', ''],
  respiratory_rate: ['bpm', 'breaths/min brpm count/min'],
  sleep_apnea_alert: ['count', count],
  sleep_breathing_disturbance: ['count', count],
  stand_duration: ['min', minutes],
  stand_hour: ['count', count],
  steps: ['count', count],
  stress_level: ['%', percent],
  uv_exposure: ['index', 'count'],
  vo2_max: ['mL/kg/min', 'ml/(kg*min) ml/(kg·min) ml/min/kg'],
  waist_circumference: ['cm', 'in m'],
  water: ['mL', 'l milliliter milliliters'],
  wheelchair_push: ['count', count],
  workout_distance: ['m', meters],
  workout_duration: ['min', minutes],
  workout_swimming_stroke: ['count', count],
}

/** Resources whose samples have a start and an end, and resources that the array endpoint returns. */
const instants =
  'blood_oxygen blood_pressure body_fat body_weight calories_basal cholesterol electrocardiogram_voltage floors_climbed glucose heartrate hrv ige igg respiratory_rate stress_level water'
const legacyIntervals = 'caffeine calories_active distance hypnogram mindfulness_minutes steps vo2_max'

const words = (text: string) => text.split(' ').filter(Boolean)

test('the table names every resource', () => {
  expect(seriesNames.toSorted()).toEqual(Object.keys(units))
})

test.each(Object.entries(units))('%s has the unit of the Junction API and accepts no unit of another quantity', (name, [unit, others]) => {
  const row = series[name as keyof typeof series]
  expect(row.unit).toBe(unit)
  expect(Object.keys(row.unitFactors).toSorted()).toEqual([...words(unit.toLowerCase()), ...words(others)].toSorted())
})

test('interval resources and array reads match the Junction API', () => {
  expect(seriesNames.filter((name) => !series[name].interval).toSorted()).toEqual(words(instants))
  expect(seriesNames.filter((name) => series[name].legacy).toSorted()).toEqual(words(`${instants} ${legacyIntervals}`).toSorted())
})
