import { DAY, HOUR, MINUTE, SECOND } from '../../../../platform/time.ts'

type Row = { id: number; modified: number; timezone: string } & Record<string, unknown>
export type Group = Row & { date: number; attrib: number; measures: { value: number; type: number; unit: number }[] }
export type Activity = Row & { date: string }
export type Session = Row & { startdate: number; enddate: number; date: string; data: Record<string, number> }
export type Phase = { startdate: number; enddate: number; state: number } & Record<'hr' | 'rr' | 'rmssd', Record<string, number>>

export type WithingsUser = {
  id: string
  groups: Group[]
  activities: Activity[]
  workouts: Session[]
  nights: Session[]
  phases: Phase[]
  /** By the second since 1970. */
  intraday: Record<string, Record<string, number>>
}

/** One hour ahead of UTC, all year. */
const ZONE = 'Africa/Lagos'

const dayOf = (at: number) => new Date(at + HOUR).toISOString().slice(0, 10)

const noise = (seed: number) => Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1

/** A person with a scale, a cuff and a watch, and their data up to a time. The same arguments always give the same data. */
export function newWithingsUser(id: string, until: string, days: number): WithingsUser {
  const user: WithingsUser = { id, groups: [], activities: [], workouts: [], nights: [], phases: [], intraday: {} }
  const today = Math.floor((Date.parse(until) + HOUR) / DAY) * DAY - HOUR
  for (let back = days; back >= 0; back--) addDay(user, today - back * DAY, back, Date.parse(until))
  return user
}

function addDay(user: WithingsUser, midnight: number, seed: number, until: number) {
  const id = Math.floor(midnight / DAY) * 10
  const at = (ms: number) => Math.floor((midnight + ms) / SECOND)
  const row = { modified: at(9 * HOUR), timezone: ZONE }
  if (midnight + 9 * HOUR < until) {
    addNight(user, id, midnight, seed)
    user.groups.push({ id: id + 1, date: at(7 * HOUR), attrib: 0, ...row, measures: weighed(seed) })
    if (seed % 3 === 0) user.groups.push({ id: id + 2, date: at(8 * HOUR), attrib: 0, ...row, measures: pressed(seed) })
    if (seed % 7 === 0) user.groups.push({ id: id + 3, date: at(8 * HOUR + MINUTE), attrib: 1, ...row, measures: weighed(seed + 1) })
  }
  if (midnight + 20 * HOUR >= until) return
  const evening = { ...row, modified: at(20 * HOUR) }
  user.activities.push({ id, date: dayOf(midnight), ...evening, ...movement(seed) })
  if (seed % 10 === 0) user.groups.push({ id: id + 4, date: at(12 * HOUR), attrib: 0, ...evening, measures: checked(seed) })
  if (seed % 3 === 0) user.workouts.push({ id: id + 5, ...evening, ...training(midnight) })
  for (let minute = 9 * 60; minute < 20 * 60; minute += 30)
    user.intraday[at(minute * MINUTE)] = {
      duration: 1800,
      steps: Math.round(400 * noise(seed + minute)),
      distance: Math.round(300 * noise(seed + minute)),
      calories: Math.round(20 * noise(seed + minute)),
      elevation: minute % 120 ? 0 : 1,
      heart_rate: Math.round(60 + 40 * noise(seed + minute)),
      spo2_auto: 97,
    }
}

const measure = (type: number, value: number, unit = -3) => ({ type, value: Math.round(value / 10 ** unit), unit })

const weighed = (seed: number) => [
  ...[measure(1, 68.25 + noise(seed)), measure(6, 24.1), measure(5, 51.8), measure(76, 34.125)],
  ...[measure(77, 40.95), measure(88, 2.73), measure(170, 4.2, -1)],
]

const pressed = (seed: number) => [measure(10, 118 + Math.round(noise(seed) * 10), 0), measure(9, 76, 0), measure(11, 61, 0)]

const checked = (seed: number) => [
  measure(54, 97, 0),
  measure(71, 36.6),
  measure(123, 41 + Math.round(noise(seed)), 0),
  measure(4, 1.72, -2),
]

const movement = (seed: number) => ({
  ...{ steps: 6000 + Math.round(noise(seed) * 6000), distance: 5400.5, elevation: 6, calories: 400, totalcalories: 2100 },
  ...{ soft: 10_800, moderate: 1800, intense: 600, active: 2400, hr_average: 74, hr_min: 48, hr_max: 151 },
  ...{ hr_zone_0: 0, hr_zone_1: 0, hr_zone_2: 0, hr_zone_3: 0, brand: 1, is_tracker: true, deviceid: 'watch-1' },
})

const training = (midnight: number) => ({
  category: 2,
  model: 93,
  attrib: 7,
  startdate: Math.floor((midnight + 17 * HOUR) / SECOND),
  enddate: Math.floor((midnight + 18 * HOUR) / SECOND),
  date: dayOf(midnight),
  data: { calories: 320, intensity: 50, hr_average: 131, hr_min: 88, hr_max: 164, pause_duration: 300, steps: 5200, distance: 6100 },
})

const STEP = 20 * 60
const PHASES = 24

function addNight(user: WithingsUser, id: number, midnight: number, seed: number) {
  const start = Math.floor((midnight - 90 * MINUTE + Math.round(noise(seed) * 30) * MINUTE) / SECOND)
  const states = Array.from({ length: PHASES }, (_, i) => (i === 0 || i === 15 ? 0 : ([1, 2, 1, 3][i % 4] as number)))
  const values = (from: number, value: (i: number) => number) => Object.fromEntries([0, 600].map((s, i) => [from + s, value(i)]))
  states.forEach((state, i) => {
    const startdate = start + i * STEP
    const measured = {
      hr: values(startdate, (k) => 50 + ((i + k) % 9)),
      rr: values(startdate, () => 14),
      rmssd: values(startdate, (k) => 55 + i + k),
    }
    user.phases.push({ startdate, enddate: startdate + STEP, state, ...measured })
  })
  const seconds = (state: number) => states.filter((one) => one === state).length * STEP
  const total = (PHASES - states.filter((state) => state === 0).length) * STEP
  user.nights.push({
    ...{ id, timezone: ZONE, model: 16, startdate: start, enddate: start + PHASES * STEP, date: dayOf(midnight), completed: true },
    modified: Math.floor((midnight + 9 * HOUR) / SECOND),
    data: {
      ...{ total_timeinbed: PHASES * STEP, total_sleep_time: total, wakeupduration: seconds(0), wakeupcount: 1, sleep_latency: STEP },
      ...{ lightsleepduration: seconds(1), deepsleepduration: seconds(2), remsleepduration: seconds(3) },
      ...{
        sleep_efficiency: total / (PHASES * STEP),
        hr_average: 54,
        hr_min: 47,
        hr_max: 66,
        rr_average: 14,
        sleep_score: 78 + (seed % 9),
      },
    },
  })
}
