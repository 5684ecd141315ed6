import { createHash } from 'node:crypto'
import { DAY, HOUR, MINUTE } from '../../../../platform/time.ts'

type Scored = { created_at: string; updated_at: string; score_state: string; score?: Record<string, unknown> }
export type WhoopRecord = Scored & { id: string | number; start: string; end?: string; timezone_offset: string } & Record<string, unknown>
export type Recovery = Scored & { cycle_id: number; sleep_id: string; user_id: number }

export type WhoopUser = {
  id: string
  sleeps: Map<string, WhoopRecord>
  /** By the ID of the sleep. */
  recoveries: Map<string, Recovery>
  cycles: WhoopRecord[]
  workouts: Map<string, WhoopRecord>
  body: { height_meter: number; weight_kilogram: number; max_heart_rate: number }
}

const noise = (seed: number) => Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1

const iso = (at: number) => new Date(at).toISOString()

/** A UUID that follows from its parts. */
const uuidOf = (...parts: (string | number)[]) => {
  const hex = createHash('sha256').update(parts.join(' ')).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A person with a strap, and their data up to a time. Every second account is in UTC, which WHOOP writes as Z. */
export function newWhoopUser(id: string, until: string, days: number): WhoopUser {
  const isUtc = /[02468]$/.test(id)
  const zone = { offset: isUtc ? 0 : -5 * HOUR, timezone_offset: isUtc ? 'Z' : '-05:00' }
  const body = { height_meter: 1.72, weight_kilogram: 68.5, max_heart_rate: 186 }
  const user: WhoopUser = { id, sleeps: new Map(), recoveries: new Map(), cycles: [], workouts: new Map(), body }
  const today = Math.floor((Date.parse(until) + zone.offset) / DAY) * DAY - zone.offset
  for (let back = days; back >= 0; back--) addDay(user, today - back * DAY, back, Date.parse(until), zone.timezone_offset)
  return user
}

function addDay(user: WhoopUser, midnight: number, seed: number, until: number, timezone_offset: string) {
  const start = midnight - 60 * MINUTE + Math.round(noise(seed) * 30) * MINUTE
  const end = start + 8 * HOUR
  if (end >= until) return
  const [sleep_id, cycle_id] = [uuidOf('sleep', user.id, midnight), Math.floor(midnight / DAY)]
  const scored = { created_at: iso(end), updated_at: iso(end), score_state: 'SCORED' }
  const owner = { user_id: Number(user.id), timezone_offset }
  user.sleeps.set(sleep_id, {
    id: sleep_id,
    cycle_id,
    ...owner,
    ...scored,
    start: iso(start),
    end: iso(end),
    nap: false,
    score: nightScore(seed),
  })
  user.recoveries.set(sleep_id, { cycle_id, sleep_id, user_id: owner.user_id, ...scored, score: recoveryScore(seed) })
  const next = end + 16 * HOUR
  const closed = next < until ? { end: iso(next), updated_at: iso(next) } : {}
  user.cycles.push({ id: cycle_id, ...owner, ...scored, start: iso(start), ...closed, score: cycleScore(seed) })
  if (seed % 3 || end + 10 * HOUR >= until) return
  const [from, to] = [end + 9 * HOUR, end + 10 * HOUR]
  const id = uuidOf('workout', user.id, midnight)
  const trained = { created_at: iso(to), updated_at: iso(to), score_state: 'SCORED', score: workoutScore(seed) }
  user.workouts.set(id, { id, ...owner, start: iso(from), end: iso(to), sport_name: 'running', ...trained })
}

const nightScore = (seed: number) => ({
  stage_summary: {
    total_in_bed_time_milli: 8 * HOUR,
    total_awake_time_milli: 30 * MINUTE,
    total_no_data_time_milli: 0,
    total_light_sleep_time_milli: 4 * HOUR,
    total_slow_wave_sleep_time_milli: 90 * MINUTE + Math.round(noise(seed) * 20) * MINUTE,
    total_rem_sleep_time_milli: 100 * MINUTE,
    sleep_cycle_count: 4,
    disturbance_count: 6,
  },
  sleep_needed: { baseline_milli: 8 * HOUR },
  respiratory_rate: 14 + Math.round(noise(seed) * 20) / 10,
  sleep_performance_percentage: 80 + Math.round(noise(seed) * 15),
  sleep_consistency_percentage: 75,
  sleep_efficiency_percentage: 91.5,
})

const recoveryScore = (seed: number) => ({
  user_calibrating: false,
  recovery_score: 40 + Math.round(noise(seed) * 50),
  resting_heart_rate: 50 + Math.round(noise(seed) * 8),
  hrv_rmssd_milli: 45 + Math.round(noise(seed) * 3000) / 100,
  spo2_percentage: 95 + Math.round(noise(seed) * 30) / 10,
  skin_temp_celsius: 33.5,
})

const cycleScore = (seed: number) => ({
  strain: 11.2,
  kilojoule: 8368 + Math.round(noise(seed) * 2000),
  average_heart_rate: 68,
  max_heart_rate: 171,
})

const workoutScore = (seed: number) => ({
  ...{ strain: 8.2, average_heart_rate: 128, max_heart_rate: 171, kilojoule: 1255.2 + Math.round(noise(seed) * 100) },
  ...{ percent_recorded: 100, distance_meter: 8200, altitude_gain_meter: 46.5, altitude_change_meter: -2 },
  zone_durations: Object.fromEntries(
    ['zero', 'one', 'two', 'three', 'four', 'five'].map((zone, i) => [`zone_${zone}_milli`, (i + 1) * MINUTE]),
  ),
})
