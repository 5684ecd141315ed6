import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { series, seriesNames } from '../../contract/wearables/series.ts'
import { summaries } from '../../contract/wearables/summaries.ts'
import { MINUTE } from '../../platform/time.ts'
import { type Day, dayOf } from './rules-day.ts'
import { deviceOf } from './rules-devices.ts'
import { streamOf } from './rules-stream.ts'
import { demoSummaries, workoutId } from './rules-summaries.ts'
import { hasPassed } from './rules-times.ts'
import { type OwnSeries, ownSeries, samplesUntil } from './series/rules-series.ts'

type ReportRequest = {
  source: SourceSlug
  user_id: string
  /** Calendar days of the user, in order. */
  dates: string[]
  zoneAt(at: number): number | null
  /** Data ends here. */
  until: number
  isLive: boolean
}

/** A demo source has every resource, even if the real source does not. */
export const demoResources = [
  ...new Set([...Object.keys(summaries), ...seriesNames.map((name) => series[name].event ?? name), 'workout_stream']),
]

/** The data of some days, as pushes. The same user, source and days always give the same data. */
export function demoReport({ source, user_id, dates, zoneAt, until, isLive }: ReportRequest) {
  const days = dates.map((date) => {
    const day = dayOf(source, user_id, date, zoneAt)
    return { ...day, samples: samplesUntil(day, source, until) }
  })
  return {
    summaries: demoSummaries(days, { until, isLive, deviceFor: (resource) => deviceOf(source, resource) }),
    samples: ownSeries.map((name: OwnSeries) => ({ name, samples: days.flatMap(({ samples }) => samples[name]) })),
    streams: days.filter((day) => hasPassed(day, day.workout.to, until)).map(workoutStream),
  }
}

const workoutStream = (day: Day) => ({
  workout: workoutId(day),
  from: day.start + day.workout.from * MINUTE,
  to: day.start + day.workout.to * MINUTE,
  stream: streamOf(day),
})
