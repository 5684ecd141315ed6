import { DAY, SECOND } from '../../../platform/time.ts'
import type { Call, Records } from '../cloud.ts'
import { isNumber } from '../rules-clock.ts'
import * as api from './api.ts'
import { idOf, timeOf } from './map.ts'

type Exercise = api.Point<'exercise'>
type Stream = NonNullable<Records['streams']>[number]

/** The streams of workouts. A workout has no heart rates of its own, so they are what the tracker measured during it. */
export async function streamsOf(call: Call, exercises: Exercise[]): Promise<Stream[]> {
  const streams: Stream[] = []
  for (const exercise of exercises) streams.push(...streamOf(exercise, await beatsDuring(call, exercise)))
  return streams
}

function beatsDuring(call: Call, { value: { interval } }: Exercise) {
  const from = Date.parse(interval.startTime)
  const to = Math.min(Date.parse(interval.endTime), from + DAY)
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return from < to ? api.listAll(call, 'heart-rate', window, { family: 'wearables' }) : Promise.resolve([])
}

const MAX_BPM = 500

/** The stream of a workout. None without measurements. */
export function streamOf({ id, value: { interval } }: Exercise, beats: api.Point<'heart-rate'>[]): Stream[] {
  const measured = beats.flatMap((beat) => {
    const bpm = beat.value.beatsPerMinute
    return isNumber(bpm) && bpm >= 0 && bpm <= MAX_BPM ? [{ second: Math.floor(timeOf(beat) / SECOND), bpm }] : []
  })
  const sorted = measured.sort((a, b) => a.second - b.second)
  if (!sorted.length) return []
  return [{ workout: idOf(id, interval), time: sorted.map(({ second }) => second), heartrate: sorted.map(({ bpm }) => bpm) }]
}
