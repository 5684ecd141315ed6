import { isSourceType, type Series } from '../../../contract/wearables/series.ts'
import { DAY } from '../../../platform/time.ts'
import { dayOf, parseInstant } from '../../time/rules.ts'
import type { IncomingSample } from './rules-merge.ts'

type DayKey = { day: string; source_type: string }
type Batch = DayKey & { samples: IncomingSample[] }

export const keyOf = ({ day, source_type }: DayKey) => `${day} ${source_type}`

/** Other types can reveal something about the user, so only the encrypted part has them. */
export const columnOf = (type: string) => (type === '' || isSourceType(type) ? type : 'other')

/** Groups samples by day, in lock order. */
export function groupByDay(samples: IncomingSample[]): Map<string, Batch> {
  const found = new Map<string, Batch>()
  let last: { until: number; from: number; type: string; batch: Batch } | undefined
  for (const sample of samples) {
    if (!last || sample.type !== last.type || sample.at < last.from || sample.at >= last.until) {
      const from = Math.floor(sample.at / DAY) * DAY
      const key = { day: dayOf(from), source_type: columnOf(sample.type) }
      const name = keyOf(key)
      const batch = found.get(name) ?? { ...key, samples: [] }
      found.set(name, batch)
      last = { from, until: from + DAY, type: sample.type, batch }
    }
    last.batch.samples.push(sample)
  }
  return found.size > 1 ? new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1))) : found
}

/** Guessing takes longer than it saves for more samples. */
const MAX_GUESSED_SAMPLES = 500

/** The days of a push, from samples that are not checked yet. Empty if there is nothing to guess from. */
export function guessDays({ types }: Series, data: readonly unknown[]): DayKey[] {
  const days = new Map<string, DayKey>()
  if (data.length > MAX_GUESSED_SAMPLES) return []
  for (const sample of data) {
    const { start_date, type } = (sample ?? {}) as { start_date?: unknown; type?: unknown }
    const at = parseInstant(start_date)
    if (Number.isNaN(at)) return []
    const isUnknown = typeof type !== 'string' || (types === undefined && type === 'unknown')
    const key = { day: dayOf(at), source_type: isUnknown ? '' : columnOf(type) }
    days.set(keyOf(key), key)
  }
  return [...days.values()]
}
