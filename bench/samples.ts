const DAY = 86_400_000

/** Generates a seeded, realistic heart rate: slow drift, some noise and slightly irregular times. */
export function heartRates(seed: number, from: number, count: number, everyMs: number) {
  let state = seed * 2_654_435_761 + 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  let bpm = 65
  return Array.from({ length: count }, (_, i) => {
    bpm = Math.min(180, Math.max(45, bpm + Math.round((random() - 0.5) * 6)))
    const jitter = Math.floor((random() * everyMs) / 5000) * 1000
    return { at: from + i * everyMs + jitter, value: bpm }
  })
}

export type HeartRate = ReturnType<typeof heartRates>[number]

export const bodyOf = (rates: HeartRate[], change: object = {}) =>
  JSON.stringify({
    stage: 'daily',
    provider: 'garmin',
    time_zone: 'Europe/Berlin',
    data: rates.map(({ at, value }) => {
      const start_date = new Date(at).toISOString()
      return { value, unit: 'bpm', start_date, end_date: start_date, type: 'watch' }
    }),
    ...change,
  })

export const midnight = (daysAgo: number) => Math.floor(Date.now() / DAY) * DAY - daysAgo * DAY
