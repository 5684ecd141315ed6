import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { byteReader, byteWriter } from './rules-bytes.ts'
import { readDoubles, readNames, readRuns, readSteps, writeDoubles, writeNames, writeRuns, writeSteps } from './rules-columns.ts'

/** One sample as it is kept. Times are milliseconds since 1970. */
export type Sample = {
  at: number
  /** The same as `at` where the sample does not last. */
  end: number
  /** With `at` the key within its resource, provider and day; empty where the source named none. */
  type: string
  value: number
  /** The lower value of a pair. */
  second: number
  /** What a note says. */
  text: string
  /** Seconds east of UTC; null where nobody knows. */
  zone: number | null
  /** What decides between two with the same key: when the source changed it, or when it came in. */
  version: number
  /** Fields of the resource's own and the app it came from, as JSON; empty where there are none. */
  more: string
}

const FORMAT = 1
const LEVEL = 6

/** A day of samples, column by column, compressed. Nothing is lost. */
export function encodeDay(samples: Sample[]): Buffer {
  const to = byteWriter(64 + samples.length * 8)
  const column = <K extends keyof Sample>(name: K) => samples.map((sample) => sample[name])
  to.whole(FORMAT)
  to.whole(samples.length)
  writeTimes(to, column('at'))
  writeTimes(
    to,
    samples.map(({ at, end }) => end - at),
  )
  writeNames(to, column('type'))
  writeDoubles(to, column('value'))
  writeDoubles(to, column('second'))
  writeNames(to, column('text'))
  writeRuns(to, column('zone'), (zone) => to.whole(zone === null ? 0 : zone + DAY_SECONDS))
  writeRuns(to, column('version'), to.signed)
  writeNames(to, column('more'))
  return deflateRawSync(to.done(), { level: LEVEL })
}

export function decodeDay(bytes: Buffer): Sample[] {
  const from = byteReader(inflateRawSync(bytes))
  const format = from.whole()
  if (format !== FORMAT) throw new Error(`A day of samples has format ${format}, which this release does not know`)
  const count = from.whole()
  const at = readTimes(from, count)
  const lasts = readTimes(from, count)
  const type = readNames(from, count)
  const value = readDoubles(from, count)
  const second = readDoubles(from, count)
  const text = readNames(from, count)
  const zone = readRuns(from, count, () => zoneOf(from.whole()))
  const version = readRuns(from, count, from.signed)
  const more = readNames(from, count)
  return at.map((at, i) => ({
    at,
    end: at + (lasts[i] as number),
    type: type[i] as string,
    value: value[i] as number,
    second: second[i] as number,
    text: text[i] as string,
    zone: zone[i] as number | null,
    version: version[i] as number,
    more: more[i] as string,
  }))
}

const DAY_SECONDS = 86_400
const zoneOf = (written: number) => (written === 0 ? null : written - DAY_SECONDS)

type Writer = ReturnType<typeof byteWriter>
type Reader = ReturnType<typeof byteReader>

/** Most clocks tick in whole seconds, and evenly, so the steps between the steps are written. */
function writeTimes(to: Writer, times: number[]) {
  const unit = times.every((time) => time % 1000 === 0) ? 1000 : 1
  to.whole(unit)
  const steps = times.map((time, i) => (time - (times[i - 1] ?? 0)) / unit)
  writeSteps(to, steps)
}

function readTimes(from: Reader, count: number): number[] {
  const unit = from.whole()
  let time = 0
  return readSteps(from, count).map((step) => {
    time += step * unit
    return time
  })
}
