import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { dayOf } from './rules-day.ts'
import { deviceOf } from './rules-devices.ts'
import { type NewSample, point, roundTo } from './rules-times.ts'
import { heartRateAt } from './series/rules-heart.ts'
import { glucoseAt } from './series/rules-intake.ts'

type BulkRequest = { source: SourceSlug; user_id: string; dates: string[]; samples: number }

/** Generates heart rate and glucose samples, half of the daily number each. */
export function bulkReport({ source, user_id, dates, samples }: BulkRequest) {
  const days = dates.map((date) => dayOf(source, user_id, date, () => 0))
  const half = Math.ceil(samples / 2)
  const series = (count: number, type: string, valueAt: (day: (typeof days)[number], minute: number) => number, decimals: number) =>
    days.flatMap((day) => {
      const random = fastRandom(day.random(type)())
      return Array.from({ length: count }, (_, i): NewSample => {
        const minute = (i * 1440) / count
        return point(day, minute, roundTo(valueAt(day, minute) * (0.98 + 0.04 * random()), decimals), { type })
      })
    })
  return {
    heartrate: series(half, deviceOf(source, 'heartrate'), heartRateAt, 0),
    glucose: series(samples - half, deviceOf(source, 'glucose'), glucoseAt, 1),
  }
}

/** A linear congruential generator, because hashing every sample would double the time. */
function fastRandom(seed: number) {
  let state = Math.floor(seed * 2 ** 32)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
