import type { Series } from '../contract/series.ts'
import type { Sample } from './rules-codec.ts'

export const isoOf = (at: number) => new Date(at).toISOString()

type More = { app_id?: string; device_id?: string } & Record<string, unknown>

const nothing: More = {}

export const moreOf = (more: string): More => (more ? (JSON.parse(more) as More) : nothing)

/** A sample as it is read and told. */
export function shownSample(row: Series, { at, end, type, value, second, text, zone, more }: Sample) {
  const timestamp = isoOf(at)
  const { app_id: _, device_id: __, ...own } = moreOf(more)
  return {
    timezone_offset: zone,
    type: type || null,
    unit: row.unit,
    timestamp,
    ...(row.interval ? { start: timestamp, end: isoOf(end) } : {}),
    ...(row.says === 'pair' ? { systolic: value, diastolic: second } : { value: row.says === 'text' ? text : value }),
    ...emptyOf(row),
    ...own,
  }
}

export type ShownSample = ReturnType<typeof shownSample>

const empties = new WeakMap<Series, Record<string, null>>()

/** The public clients want a resource's own fields to be there, if only as null. */
function emptyOf(row: Series) {
  const known = empties.get(row) ?? Object.fromEntries(Object.keys(row.extra.shape).map((name) => [name, null]))
  empties.set(row, known)
  return known
}

/** Whose samples they are: those of one source, source type, app and device stand together. */
export type Origin = { type: string; app_id: string | null; device_id: string | null }

export function originOf({ types }: Series, { type, more }: Sample): Origin {
  const { app_id = null, device_id = null } = moreOf(more)
  return { type: types === undefined && type ? type : 'unknown', app_id, device_id }
}

const originKey = (row: Series, { type, more }: Sample) => `${row.types === undefined ? type : ''}\n${more}`

/** Samples by where they come from, each group in its order. */
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

const MOST_TOLD = 2500
/** Room is left for the envelope: a message has 256 kB at most. */
const MOST_BYTES = 250_000

/** Samples in pieces that an event has room for. */
export function pieces(row: Series, samples: Sample[]): Sample[][] {
  const first = samples[0]
  if (!first) return []
  const usual = JSON.stringify(shownSample(row, { ...first, type: '', text: '', more: '' })).length + 60
  const cut: Sample[][] = []
  let piece: Sample[] = []
  let bytes = 0
  for (const sample of samples) {
    const size = usual + 3 * sample.type.length + 6 * sample.text.length + 3 * sample.more.length
    if (piece.length && (piece.length === MOST_TOLD || bytes + size > MOST_BYTES)) {
      cut.push(piece)
      piece = []
      bytes = 0
    }
    piece.push(sample)
    bytes += size
  }
  return [...cut, piece]
}
