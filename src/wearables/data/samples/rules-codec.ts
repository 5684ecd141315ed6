import { deflateRaw, inflateRaw } from '../../../platform/sealing/deflate.ts'
import { type ByteReader, type ByteWriter, byteReader, byteWriter } from './rules-bytes.ts'
import { readDoubles, readNames, readRuns, writeDoubles, writeNames, writeRuns } from './rules-columns.ts'

/** A stored sample. Times are milliseconds since 1970. */
export type Sample = {
  at: number
  /** Equals `at` if the sample has no duration. */
  end: number
  /** Together with `at`, it is the key within resource, provider and day. Empty if the source sent none. */
  type: string
  value: number
  /** The diastolic value of a pair. */
  second: number
  /** The text of a note. */
  text: string
  /** The UTC offset in seconds. Null if unknown. */
  zone: number | null
  /** Decides between two samples with the same key: modified_at, or the time of arrival. */
  version: number
  /** Extra fields, app and device as JSON. Empty if there are none. Team exports contain this name. */
  more: string
}

const FORMAT = 1
const LEVEL = 6

/** For a few samples, the memory that the compressor reserves costs more than the compression. A window of 1 kB has room for them. */
const SMALL_BYTES = 1024
const SMALL = { windowBits: 10, memLevel: 4 }

/** Encodes samples column by column and compresses them, without loss. */
export function encodeSamples(samples: Sample[]): Buffer {
  const writer = byteWriter(64 + samples.length * 8)
  writer.integer(FORMAT)
  writer.integer(samples.length)
  const columns = columnsOf(samples)
  writeTimes(writer, columns.at)
  writeDoubles(writer, columns.duration)
  writeNames(writer, columns.type)
  writeDoubles(writer, columns.value)
  writeDoubles(writer, columns.second)
  writeNames(writer, columns.text)
  writeRuns(writer, columns.zone, (zone) => writer.integer(zone === null ? 0 : zone + DAY_SECONDS))
  writeRuns(writer, columns.version, writer.signed)
  writeNames(writer, columns.more)
  const bytes = writer.bytes()
  return deflateRaw(bytes, bytes.length <= SMALL_BYTES ? { level: LEVEL, ...SMALL } : { level: LEVEL })
}

/** Splits samples into columns in one pass, because there are many. */
function columnsOf(samples: Sample[]) {
  const numbers = () => new Array<number>(samples.length)
  const texts = () => new Array<string>(samples.length)
  const [at, duration, value, second, version] = [numbers(), numbers(), numbers(), numbers(), numbers()]
  const [type, text, more] = [texts(), texts(), texts()]
  const zone = new Array<number | null>(samples.length)
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as Sample
    at[i] = sample.at
    duration[i] = sample.end - sample.at
    value[i] = sample.value
    second[i] = sample.second
    version[i] = sample.version
    type[i] = sample.type
    text[i] = sample.text
    more[i] = sample.more
    zone[i] = sample.zone
  }
  return { at, duration, type, value, second, text, zone, version, more }
}

export function decodeSamples(bytes: Buffer): Sample[] {
  const reader = byteReader(inflateRaw(bytes))
  const format = reader.integer()
  if (format !== FORMAT) throw new Error(`Unknown sample format ${format}`)
  const count = reader.integer()
  const at = readTimes(reader, count)
  const duration = readDoubles(reader, count)
  const type = readNames(reader, count)
  const value = readDoubles(reader, count)
  const second = readDoubles(reader, count)
  const text = readNames(reader, count)
  const zone = readRuns(reader, count, () => zoneOf(reader.integer()))
  const version = readRuns(reader, count, reader.signed)
  const more = readNames(reader, count)
  const samples = new Array<Sample>(count)
  for (let i = 0; i < count; i++)
    samples[i] = {
      at: at[i] as number,
      end: (at[i] as number) + (duration[i] as number),
      type: type[i] as string,
      value: value[i] as number,
      second: second[i] as number,
      text: text[i] as string,
      zone: zone[i] as number | null,
      version: version[i] as number,
      more: more[i] as string,
    }
  return samples
}

const DAY_SECONDS = 86_400
const zoneOf = (written: number) => (written === 0 ? null : written - DAY_SECONDS)

/** Writes times as second differences, because most sources measure at even intervals of whole seconds. */
function writeTimes(writer: ByteWriter, times: number[]) {
  const unit = times.every((time) => time % 1000 === 0) ? 1000 : 1
  const steps = new Array<number>(times.length)
  let before = 0
  for (let i = 0; i < times.length; i++) {
    const time = times[i] as number
    steps[i] = (time - before) / unit
    before = time
  }
  writer.integer(unit)
  writer.steps(steps)
}

function readTimes(reader: ByteReader, count: number): number[] {
  const unit = reader.integer()
  const times = reader.steps(count)
  let time = 0
  for (let i = 0; i < count; i++) {
    time += (times[i] as number) * unit
    times[i] = time
  }
  return times
}
