import type { Series } from '../../contract/wearables/series.ts'
import { DAY } from '../../platform/time.ts'
import type { Sample } from './samples/rules-codec.ts'

/** The text of a sample with the first moment of its day, without its value. */
type Start = Pick<Sample, 'type' | 'zone'> & { from: number; text: Buffer }

/** The end of a start, from the time of day on. */
const TIME = '00:00:00.000Z","value":'
const LONGEST_VALUE = 32
const TYPICAL_LENGTH = 128
const [ZERO, COMMA, BRACE] = [48, 44, 125]

/**
 * Returns a function that writes samples of one time and one number as JSON, separated by commas. It copies bytes, because
 * consecutive samples mostly differ in the time of day and the value only.
 */
export function instantWriter({ unit }: Series): (samples: Sample[]) => Buffer {
  let last: Start | undefined
  const startOf = ({ at, type, zone }: Sample): Start => {
    if (last && last.type === type && last.zone === zone && at >= last.from && at < last.from + DAY) return last
    const from = Math.floor(at / DAY) * DAY
    const json = JSON.stringify({ timezone_offset: zone, type: type || null, unit, timestamp: new Date(from).toISOString() })
    last = { type, zone, from, text: Buffer.from(`${json.slice(0, -1)},"value":`) }
    return last
  }
  return (samples) => {
    let bytes = Buffer.allocUnsafe(samples.length * TYPICAL_LENGTH)
    let end = 0
    for (const sample of samples) {
      const { from, text } = startOf(sample)
      const most = text.length + LONGEST_VALUE
      if (bytes.length - end < most) bytes = Buffer.concat([bytes.subarray(0, end)], bytes.length * 2 + most)
      if (end) bytes[end++] = COMMA
      bytes.set(text, end)
      end += text.length
      writeTime(bytes, end - TIME.length, sample.at - from)
      end = writeValue(bytes, end, sample.value)
      bytes[end++] = BRACE
    }
    return bytes.subarray(0, end)
  }
}

/** Writes a time of day over the digits of another one. */
function writeTime(bytes: Buffer, start: number, ms: number) {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  writeTwoDigits(bytes, start, Math.floor(minutes / 60))
  writeTwoDigits(bytes, start + 3, minutes % 60)
  writeTwoDigits(bytes, start + 6, seconds % 60)
  const thousandths = ms % 1000
  bytes[start + 9] = ZERO + Math.floor(thousandths / 100)
  writeTwoDigits(bytes, start + 10, thousandths % 100)
}

function writeTwoDigits(bytes: Buffer, start: number, value: number) {
  bytes[start] = ZERO + Math.floor(value / 10)
  bytes[start + 1] = ZERO + (value % 10)
}

const texts = Array.from({ length: 300 }, (_, value) => String(value))

const writeValue = (bytes: Buffer, start: number, value: number) =>
  start + bytes.write(texts[value] ?? (Number.isFinite(value) ? String(value) : 'null'), start, 'latin1')
