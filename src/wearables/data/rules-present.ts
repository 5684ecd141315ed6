import type { Series } from '../../contract/wearables/series.ts'
import type { Sample } from './samples/rules-codec.ts'

const DAY = 86_400_000
const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
let known = { from: Number.NaN, day: '' }

/** Formats a time. The date part is cached, because consecutive samples are mostly of one day. */
export function isoOf(at: number) {
  if (!(at >= known.from && at < known.from + DAY)) {
    const from = Math.floor(at / DAY) * DAY
    known = { from, day: new Date(from).toISOString().slice(0, 11) }
  }
  const left = at - known.from
  const seconds = Math.floor(left / 1000)
  const thousandths = String(left % 1000).padStart(3, '0')
  return `${known.day}${two[Math.floor(seconds / 3600)]}:${two[Math.floor(seconds / 60) % 60]}:${two[seconds % 60]}.${thousandths}Z`
}

type More = { app_id?: string; device_id?: string } & Record<string, unknown>

const nothing: More = {}

export const moreOf = (more: string): More => (more ? (JSON.parse(more) as More) : nothing)

type ShownSample = {
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
export function samplePresenter(row: Series): (sample: Sample) => ShownSample {
  const { unit, valueKind: says, interval } = row
  const own = Object.keys(row.extraFields.shape)
  if (says === 'number' && !own.length) return interval ? lasting(unit) : measured(unit)
  return (sample) => {
    const { value, second, text } = sample
    const shown = interval ? lasting(unit)(sample) : measured(unit)(sample)
    if (says === 'text') shown.value = text
    if (says === 'pair') {
      delete shown.value
      Object.assign(shown, { systolic: value, diastolic: second })
    }
    // Public clients expect extra fields to be present, if only as null.
    const said = moreOf(sample.more)
    for (const name of own) Object.assign(shown, { [name]: said[name] ?? null })
    return shown
  }
}

const measured =
  (unit: string) =>
  ({ at, type, value, zone }: Sample): ShownSample => ({ timezone_offset: zone, type: type || null, unit, timestamp: isoOf(at), value })

const lasting =
  (unit: string) =>
  ({ at, end, type, value, zone }: Sample): ShownSample => {
    const timestamp = isoOf(at)
    return { timezone_offset: zone, type: type || null, unit, timestamp, start: timestamp, end: isoOf(end), value }
  }

/** Samples of one source type, app and device form a group. */
export type Origin = { type: string; app_id: string | null; device_id: string | null }

function originOf({ types }: Series, { type, more }: Sample): Origin {
  const { app_id = null, device_id = null } = moreOf(more)
  return { type: types === undefined && type ? type : 'unknown', app_id, device_id }
}

const originKey = (row: Series, { type, more }: Sample) => `${row.types === undefined ? type : ''}\n${more}`

export function byOrigin<S extends Sample>(row: Series, samples: S[]): { origin: Origin; samples: S[] }[] {
  const found = new Map<string, { origin: Origin; samples: S[] }>()
  const known = new Map<string, { origin: Origin; samples: S[] }>()
  for (const sample of samples) {
    const key = originKey(row, sample)
    let group = known.get(key)
    if (!group) {
      const origin = originOf(row, sample)
      const same = JSON.stringify(origin)
      group = found.get(same) ?? { origin, samples: [] }
      found.set(same, group)
      known.set(key, group)
    }
    group.samples.push(sample)
  }
  return [...found.values()]
}
