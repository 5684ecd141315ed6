import type { Sample } from './rules-codec.ts'

/** A sample on its way in; without a version it counts as newer than what is there. */
export type Incoming = Omit<Sample, 'version'> & { version: number | null }

export type Merged = {
  samples: Sample[]
  created: Sample[]
  updated: Sample[]
  stale: number
  unchanged: number
  /** Whether the day has to be written: a newer version of the same content changes the row, but tells nobody. */
  changed: boolean
}

export const byKey = (a: Pick<Sample, 'at' | 'type'>, b: Pick<Sample, 'at' | 'type'>) =>
  a.at - b.at || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

/** Lays a batch over a day. Both are sorted by key and have each key once; `received` is the version of what came without one. */
export function mergeDay(stored: Sample[], incoming: Incoming[], received: number): Merged {
  const merged: Merged = { samples: [], created: [], updated: [], stale: 0, unchanged: 0, changed: false }
  let place = 0
  for (const sample of incoming) {
    while (place < stored.length && byKey(stored[place] as Sample, sample) < 0) merged.samples.push(stored[place++] as Sample)
    const there = stored[place]
    if (there && byKey(there, sample) === 0) {
      merged.samples.push(settle(merged, there, sample, received))
      place++
    } else {
      const created = { ...sample, version: sample.version ?? received }
      merged.created.push(created)
      merged.samples.push(created)
      merged.changed = true
    }
  }
  for (; place < stored.length; place++) merged.samples.push(stored[place] as Sample)
  return merged
}

function settle(merged: Merged, there: Sample, sample: Incoming, received: number): Sample {
  const same = isSame(there, sample)
  if (sample.version === null && same) return unchanged(merged, there)
  // A version-less sample came in last, so it wins whatever the clocks of several replicas say.
  const next: Sample = { ...sample, version: sample.version ?? Math.max(received, there.version) }
  if (sample.version !== null && !wins(next, there)) {
    if (same) return unchanged(merged, there)
    merged.stale++
    return there
  }
  merged.changed = true
  if (same) merged.unchanged++
  else merged.updated.push(next)
  return next
}

function unchanged(merged: Merged, there: Sample) {
  merged.unchanged++
  return there
}

/** The later version; of two that claim the same one, always the same of the two, whichever came first. */
const wins = (a: Sample, b: Sample) => a.version > b.version || (a.version === b.version && contentOf(a) > contentOf(b))

type Content = Omit<Sample, 'version'>

const contentOf = ({ end, value, second, text, zone, more }: Content) => JSON.stringify([end, value, second, text, zone, more])

const isSame = (a: Content, b: Content) =>
  a.value === b.value && a.end === b.end && a.zone === b.zone && a.second === b.second && a.text === b.text && a.more === b.more

/** Sorted by key, each key once: the latest version of a batch, and of those without one the last. */
export function onePerKey(batch: Incoming[]): Incoming[] {
  const sorted = isSorted(batch) ? batch : batch.toSorted(byKey)
  const kept: Incoming[] = []
  for (const sample of sorted) {
    const last = kept.at(-1)
    if (!last || byKey(last, sample) !== 0) kept.push(sample)
    else if (beats(sample, last)) kept[kept.length - 1] = sample
  }
  return kept
}

function beats(sample: Incoming, last: Incoming) {
  if (sample.version === null) return true
  if (last.version === null) return false
  return wins({ ...sample, version: sample.version }, { ...last, version: last.version })
}

function isSorted(batch: Incoming[]) {
  for (let i = 1; i < batch.length; i++) if (byKey(batch[i - 1] as Incoming, batch[i] as Incoming) > 0) return false
  return true
}
