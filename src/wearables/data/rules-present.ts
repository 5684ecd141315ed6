import type { Series } from '../../contract/wearables/series.ts'
import { DAY } from '../../platform/time.ts'
import { instantWriter } from './rules-instants.ts'
import type { Sample } from './samples/rules-codec.ts'

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
let cachedDay = { from: Number.NaN, day: '' }

/** Formats a time. The date part is cached, because consecutive samples are mostly from the same day. */
export function isoOf(at: number) {
  if (!(at >= cachedDay.from && at < cachedDay.from + DAY)) {
    const from = Math.floor(at / DAY) * DAY
    cachedDay = { from, day: new Date(from).toISOString().slice(0, 11) }
  }
  const left = at - cachedDay.from
  const seconds = Math.floor(left / 1000)
  const thousandths = String(left % 1000).padStart(3, '0')
  return `${cachedDay.day}${twoDigits[Math.floor(seconds / 3600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}.${thousandths}Z`
}

type Extras = { app_id?: string; device_id?: string } & Record<string, unknown>

const noExtras: Extras = {}

export const parseExtras = (text: string): Extras => (text ? (JSON.parse(text) as Extras) : noExtras)

export type PresentedSample = {
  timezone_offset: number | null
  type: string | null
  unit: string
  timestamp: string
  start?: string
  end?: string
  value?: number | string
  systolic?: number
  diastolic?: number
}

/** Returns the presenter of a resource. Simple resources have a fast path, because reads have many samples. */
export function samplePresenter(row: Series): (sample: Sample) => PresentedSample {
  const { unit, valueKind, interval } = row
  const extraNames = Object.keys(row.extraFields.shape)
  if (valueKind === 'number' && !extraNames.length) return interval ? presentInterval(unit) : presentInstant(unit)
  return (sample) => {
    const { value, second, text } = sample
    const presented = interval ? presentInterval(unit)(sample) : presentInstant(unit)(sample)
    if (valueKind === 'text') presented.value = text
    if (valueKind === 'pair') {
      delete presented.value
      Object.assign(presented, { systolic: value, diastolic: second })
    }
    // Junction clients expect extra fields to be present, if only as null.
    const extras = parseExtras(sample.more)
    for (const name of extraNames) Object.assign(presented, { [name]: extras[name] ?? null })
    return presented
  }
}

const presentInstant =
  (unit: string) =>
  ({ at, type, value, zone }: Sample): PresentedSample => ({ timezone_offset: zone, type: type || null, unit, timestamp: isoOf(at), value })

const presentInterval =
  (unit: string) =>
  ({ at, end, type, value, zone }: Sample): PresentedSample => {
    const timestamp = isoOf(at)
    return { timezone_offset: zone, type: type || null, unit, timestamp, start: timestamp, end: isoOf(end), value }
  }

/** The JSON of samples, separated by commas. Simple resources have a fast path. */
export function sampleWriter(row: Series): (samples: Sample[]) => string | Buffer {
  const { valueKind, interval, extraFields } = row
  if (valueKind === 'number' && !interval && !Object.keys(extraFields.shape).length) return instantWriter(row)
  return writerOf(samplePresenter(row))
}

/** Writes what the function returns for each sample. */
export const writerOf = (present: (sample: Sample) => object) => (samples: Sample[]) =>
  samples.map((sample) => JSON.stringify(present(sample))).join()

/** Samples of one source type, app and device form a group. */
export type Origin = { type: string; app_id: string | null; device_id: string | null }

function originOf({ types }: Series, { type, more: extras }: Sample): Origin {
  const { app_id = null, device_id = null } = parseExtras(extras)
  return { type: types === undefined && type ? type : 'unknown', app_id, device_id }
}

const originKey = (row: Series, { type, more: extras }: Sample) => `${row.types === undefined ? type : ''}\n${extras}`

export function groupByOrigin<S extends Sample>(row: Series, samples: S[]): { origin: Origin; samples: S[] }[] {
  const groups = new Map<string, { origin: Origin; samples: S[] }>()
  const groupOfKey = new Map<string, { origin: Origin; samples: S[] }>()
  const groupOf = (sample: S) => {
    const key = originKey(row, sample)
    const known = groupOfKey.get(key)
    if (known) return known
    const origin = originOf(row, sample)
    const name = JSON.stringify(origin)
    const group = groups.get(name) ?? { origin, samples: [] }
    groups.set(name, group)
    groupOfKey.set(key, group)
    return group
  }
  let last: { type: string; more: string; group: { samples: S[] } } | undefined
  for (const sample of samples) {
    const { type, more } = sample
    if (last?.type !== type || last.more !== more) last = { type, more, group: groupOf(sample) }
    last.group.samples.push(sample)
  }
  return [...groups.values()]
}
