import { DAY, HOUR, MINUTE } from '../../../../platform/time.ts'

/** An object of the cloud. */
export type OuraObject = { id: string; day: string; meta: { updated_at: string; version: number } } & Record<string, unknown>

export type OuraUser = {
  id: string
  personal: { id: string; age: number; weight: number; height: number; biological_sex: string; email: string }
  /** By the name in list paths, then by ID. */
  objects: Map<string, Map<string, OuraObject>>
  heartrate: { timestamp: string; bpm: number; source: string }[]
}

const OFFSET = '+01:00'

/** A whole local time with the offset of the user. */
const local = (at: number) => new Date(at + HOUR).toISOString().replace('.000Z', OFFSET)

const dayOf = (at: number) => new Date(at + HOUR).toISOString().slice(0, 10)

/** A person with a ring, and their data up to a time. The same arguments always give the same data. */
export function newOuraUser(id: string, until: string, days: number): OuraUser {
  const user: OuraUser = {
    id,
    personal: { id, age: 37, weight: 68.5, height: 1.72, biological_sex: 'female', email: `${id}@example.com` },
    objects: new Map(),
    heartrate: [],
  }
  const today = Math.floor((Date.parse(until) + HOUR) / DAY) * DAY - HOUR
  for (let back = days; back >= 0; back--) addDay(user, today - back * DAY, back, Date.parse(until))
  return user
}

/** A number from 0 to 1 that looks random. */
const noise = (seed: number) => Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1

function addDay(user: OuraUser, midnight: number, seed: number, until: number) {
  const day = dayOf(midnight)
  const meta = { updated_at: new Date(midnight + 10 * HOUR).toISOString(), version: 1 }
  const add = (name: string, object: Record<string, unknown>) => {
    const id = `${name}-${user.id}-${day}`
    const objects = user.objects.get(name) ?? new Map()
    user.objects.set(name, objects.set(id, { id, day, meta, ...object }))
  }
  if (midnight + 9 * HOUR < until) {
    add('sleep', nightOf(midnight, seed))
    add('daily_sleep', { score: Math.round(70 + 20 * noise(seed)), timestamp: local(midnight), contributors: {} })
    add('daily_spo2', { spo2_percentage: { average: Math.round(950 + 30 * noise(seed + 1)) / 10 }, breathing_disturbance_index: 4 })
  }
  if (midnight + 20 * HOUR >= until) return
  add('daily_activity', activityOf(midnight, seed))
  if (seed % 3 === 0) add('workout', workoutOf(midnight, seed))
  if (seed % 10 === 0) add('vO2_max', { timestamp: local(midnight + 12 * HOUR), vo2_max: 41 + Math.round(noise(seed) * 4) })
  for (let minute = 9 * 60; minute < 20 * 60; minute += 30)
    user.heartrate.push({
      timestamp: new Date(midnight + minute * MINUTE).toISOString(),
      bpm: Math.round(60 + 40 * noise(seed + minute)),
      source: seed % 3 === 0 && minute >= 17 * 60 && minute < 18 * 60 ? 'workout' : 'awake',
    })
}

function nightOf(midnight: number, seed: number) {
  const start = midnight - 90 * MINUTE + Math.round(noise(seed) * 30) * MINUTE
  const steps = 96
  const end = start + steps * 5 * MINUTE
  const phases = Array.from({ length: steps }, (_, i) =>
    i < 3 || i === 60 ? '4' : (['2', '1', '2', '3'][Math.floor(i / 8) % 4] as string),
  )
  const seconds = (digit: string) => phases.filter((phase) => phase === digit).length * 300
  const measured = (value: (i: number) => number) => ({
    interval: 300,
    items: phases.map((_, i) => (i % 20 === 7 ? null : value(i))),
    timestamp: local(start),
  })
  return {
    type: 'long_sleep',
    bedtime_start: local(start),
    bedtime_end: local(end),
    time_in_bed: steps * 300,
    total_sleep_duration: steps * 300 - seconds('4'),
    awake_time: seconds('4'),
    light_sleep_duration: seconds('2'),
    deep_sleep_duration: seconds('1'),
    rem_sleep_duration: seconds('3'),
    latency: 900,
    efficiency: Math.round((100 * (steps * 300 - seconds('4'))) / (steps * 300)),
    average_heart_rate: 54.25,
    lowest_heart_rate: 47,
    average_hrv: 60 + Math.round(noise(seed) * 10),
    average_breath: 14.125,
    heart_rate: measured((i) => 50 + (i % 9)),
    hrv: measured((i) => 55 + (i % 13)),
    sleep_phase_5_min: phases.join(''),
    readiness: {
      score: 80,
      temperature_deviation: Math.round(noise(seed) * 40 - 20) / 100,
      temperature_trend_deviation: 0,
      contributors: {},
    },
    low_battery_alert: false,
    period: 0,
  }
}

const activityOf = (midnight: number, seed: number) => ({
  timestamp: local(midnight),
  score: 85,
  steps: 6000 + Math.round(noise(seed) * 6000),
  active_calories: 400,
  total_calories: 2100,
  equivalent_walking_distance: 8000,
  high_activity_time: 600,
  medium_activity_time: 1800,
  low_activity_time: 10_800,
  sedentary_time: 36_000,
  resting_time: 30_000,
  non_wear_time: 0,
})

const workoutOf = (midnight: number, seed: number) => ({
  activity: seed % 2 ? 'running' : 'indoor_cycling',
  calories: 320.5,
  distance: 5200,
  intensity: 'moderate',
  label: null,
  source: 'confirmed',
  start_datetime: local(midnight + 17 * HOUR),
  end_datetime: local(midnight + 18 * HOUR),
})
