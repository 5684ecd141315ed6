import type { Client } from '../../src/contract/client.ts'
import { type SeriesName, series, seriesNames } from '../../src/contract/wearables/series.ts'
import type { SummaryName } from '../../src/contract/wearables/summaries.ts'
import { aNight, aWorkout, push, pushSummary } from './wearables.ts'

const at = { start_date: '2026-03-01T09:15:00Z', end_date: '2026-03-01T09:30:00Z' }

const typeOf = (name: SeriesName) => {
  const { types } = series[name]
  return types === 'any' ? { type: name === 'cholesterol' ? 'total' : 'lead_1' } : types ? { type: types[0] } : { type: 'watch' }
}

/** A valid sample of a series, from its example. */
export function aSampleOf(name: SeriesName) {
  const { valueKind: kind, example } = series[name]
  const { value, systolic, diastolic } = example
  if (kind === 'pair') return { systolic: { ...at, value: systolic }, diastolic: { ...at, value: diastolic }, pulse: { ...at, value: 61 } }
  return { ...at, value, ...typeOf(name) }
}

/** One summary of each kind to push. */
export const someSummaries: Record<SummaryName, unknown> = {
  activity: {
    day_summary: { date: '2026-03-01', active_energy_burned_sum: 400, steps_sum: 9120, distance_sum: 7000, heart_rate_mean: 71 },
  },
  sleep: aNight(),
  sleep_cycle: {
    session_start: '2026-03-03T22:00:00Z',
    session_end: '2026-03-03T23:00:00Z',
    ...{ stage_start_offset_second: [0, 60], stage_end_offset_second: [60, 120], stage_type: [2, 1] },
  },
  workouts: aWorkout(),
  body: { body_mass: [{ ...at, value: 70 }], body_fat_percentage: [{ ...at, value: 21 }] },
  profile: { biological_sex: 'male', date_of_birth: '1984-02-29', height: 181 },
  meal: { timestamp: at.start_date, name: 'Lentil soup', energy: { unit: 'kcal', value: 420 }, macros: { carbs: 40, fats: { total: 3 } } },
  menstrual_cycle: [
    { source_bundle: 'com.example.cycle', cycle: { period_start: '2026-02-10', menstrual_flow: [{ date: '2026-02-10', flow: 'light' }] } },
  ],
  electrocardiogram: { session_start: '2026-03-01T08:00:00Z', session_end: '2026-03-01T08:00:30Z', voltage_sample_count: 15_360 },
}

/** Pushes at least one of every resource. */
export async function pushEverything(api: Client, user_id: string, change: object = {}) {
  await push(api, user_id, 'steps', [], change)
  // One after the other: on a busy machine the last of so many concurrent requests would wait too long for a database connection.
  for (const name of seriesNames) await push(api, user_id, name, [aSampleOf(name)], change)
  for (const [name, data] of Object.entries(someSummaries)) await pushSummary(api, user_id, name as SummaryName, data, change)
  const query = { start_date: '2026-03-01', end_date: '2026-03-02' }
  const { workouts } = await api.listWorkouts({ params: { user_id }, query })
  const workout_id = workouts[0]?.id as string
  await api.pushWorkoutStream({
    params: { workout_id },
    body: { time: [1_772_384_400, 1_772_384_401], heartrate: [120, null], lat: [52.1, 52.2] },
  })
  const { sleep } = await api.listSleep({ params: { user_id }, query })
  return { workout_id, sleep_id: sleep[0]?.id as string }
}
