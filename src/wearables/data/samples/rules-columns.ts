import type { ByteReader, ByteWriter } from './rules-bytes.ts'

/** Run-length encoding: the length and the value of each run. */
export function writeRuns<T>(writer: ByteWriter, values: T[], write: (value: T) => void) {
  for (let start = 0; start < values.length; ) {
    let end = start + 1
    while (end < values.length && values[end] === values[start]) end++
    writer.integer(end - start)
    write(values[start] as T)
    start = end
  }
}

export function readRuns<T>(reader: ByteReader, count: number, read: () => T): T[] {
  const values: T[] = []
  while (values.length < count) {
    const length = reader.integer()
    const value = read()
    for (let i = 0; i < length; i++) values.push(value)
  }
  return values
}

/** Writes texts as a dictionary and runs of indexes. */
export function writeNames(writer: ByteWriter, values: string[]) {
  const indexes = new Map<string, number>()
  let last: string | undefined
  for (const value of values) {
    if (value !== last && !indexes.has(value)) indexes.set(value, indexes.size)
    last = value
  }
  writer.integer(indexes.size)
  for (const name of indexes.keys()) writer.text(name)
  if (indexes.size > 1) writeRuns(writer, values, (value) => writer.integer(indexes.get(value) as number))
}

export function readNames(reader: ByteReader, count: number): string[] {
  const names = Array.from({ length: reader.integer() }, () => reader.text())
  if (names.length === 1) return new Array<string>(count).fill(names[0] as string)
  return readRuns(reader, count, () => names[reader.integer()] as string)
}

const SCALES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
const BITS = SCALES.length
const ZEROS = BITS + 1
/** Differences of numbers below this limit are exact, even when doubled. */
const MAX_EXACT = 2 ** 51

/** Writes doubles without loss: as scaled integers if all have few decimals, else as bits. */
export function writeDoubles(writer: ByteWriter, values: number[]) {
  if (values.every((value) => Object.is(value, 0))) return writer.integer(ZEROS)
  const scale = SCALES.findIndex((factor) => values.every((value) => isScaledInteger(value, factor)))
  writer.integer(scale < 0 ? BITS : scale)
  if (scale < 0) return writeBits(writer, values)
  const factor = SCALES[scale] as number
  writer.steps(factor === 1 ? values : values.map((value) => Math.round(value * factor)))
}

export function readDoubles(reader: ByteReader, count: number): number[] {
  const scale = reader.integer()
  if (scale === ZEROS) return new Array<number>(count).fill(0)
  if (scale === BITS) return readBits(reader, count)
  const factor = SCALES[scale] as number
  const values = reader.steps(count)
  return factor === 1 ? values : values.map((value) => value / factor)
}

function isScaledInteger(value: number, factor: number) {
  const scaled = Math.round(value * factor)
  return Math.abs(scaled) < MAX_EXACT && scaled / factor === value && !Object.is(value, -0)
}

/** Groups the bytes by position, because similar numbers share their first bytes and compress well. */
function writeBits(writer: ByteWriter, values: number[]) {
  const bits = Buffer.from(Float64Array.from(values).buffer)
  const planes = Buffer.allocUnsafe(bits.length)
  for (let i = 0; i < bits.length; i++) planes[(i % 8) * values.length + Math.floor(i / 8)] = bits[i] as number
  writer.raw(planes)
}

function readBits(reader: ByteReader, count: number): number[] {
  const planes = reader.raw(count * 8)
  const bits = new Uint8Array(count * 8)
  for (let i = 0; i < bits.length; i++) bits[i] = planes[(i % 8) * count + Math.floor(i / 8)] as number
  return [...new Float64Array(bits.buffer)]
}
