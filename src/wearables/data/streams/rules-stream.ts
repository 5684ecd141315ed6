import { type Channel, channelNames } from '../../../contract/wearables/streams.ts'
import { invalid } from '../../../platform/problem.ts'

type Values = (number | null)[]
export type Stream = { time: number[] } & Record<Channel, Values>

type PushedStream = { time: number[] } & { [C in Channel]?: Values | null | undefined }

const DAY_SECONDS = 86_400

/** Checks that all channels have one value per time, in order of time. Missing channels become empty lists. */
export function readStream(pushed: PushedStream, now: number): Stream {
  const { time } = pushed
  const ahead = time.findIndex((second) => second > now / 1000 + DAY_SECONDS)
  if (ahead >= 0) throw invalid(['body', 'time', ahead], 'Must not be in the future.')
  const back = time.findIndex((second, i) => second < (time[i - 1] ?? second))
  if (back >= 0) throw invalid(['body', 'time', back], 'Must not be before the previous time.')
  const lists = channelNames.map((name) => {
    const values = pushed[name] ?? []
    if (values.length && values.length !== time.length)
      throw invalid(['body', name], `Must have ${time.length} values, like time. Send null where nothing was measured.`)
    return [name, values]
  })
  return { time, ...(Object.fromEntries(lists) as Record<Channel, Values>) }
}

const ZONES = [0.5, 0.6, 0.7, 0.8, 0.9]
/** Heart rates before a longer gap do not count. */
const MAX_STEP_SECONDS = 60

/** The seconds in each zone of the maximum heart rate. Undefined without heart rates. */
export function heartZones({ time, heartrate }: Pick<Stream, 'time' | 'heartrate'>, maxRate: number): number[] | undefined {
  if (!heartrate.some((bpm) => bpm !== null)) return undefined
  const seconds = new Array<number>(ZONES.length + 1).fill(0)
  for (const [i, bpm] of heartrate.entries()) {
    const step = (time[i + 1] ?? time[i] ?? 0) - (time[i] ?? 0)
    if (bpm === null || step > MAX_STEP_SECONDS) continue
    const zone = ZONES.filter((share) => bpm >= share * maxRate).length
    seconds[zone] = (seconds[zone] as number) + step
  }
  return seconds
}

/** Estimates the maximum heart rate as 220 minus the age. */
export function maxHeartRate(birth: string, day: string) {
  const years = Number(day.slice(0, 4)) - Number(birth.slice(0, 4))
  return 220 - (day.slice(5) < birth.slice(5) ? years - 1 : years)
}
