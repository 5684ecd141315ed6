import type { Sample } from './rules-codec.ts'

/** A pushed sample. Without a version it is newer than the stored one. */
export type IncomingSample = Omit<Sample, 'version'> & { version: number | null }

export type MergedDay = {
  samples: Sample[]
  created: Sample[]
  updated: Sample[]
  stale: number
  unchanged: number
  /** Whether to write the day. A newer version with the same content changes the row but emits no event. */
  changed: boolean
}

export const byKey = (a: Pick<Sample, 'at' | 'type'>, b: Pick<Sample, 'at' | 'type'>) =>
  a.at - b.at || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

/**
 * Merges a batch into a day. Both are sorted by key without duplicates; `received` is the default version. With `lastWins`, an
 * equal version replaces the stored one, because sources round the time of a change.
 */
export function mergeDay(stored: Sample[], incoming: IncomingSample[], received: number, lastWins = false): MergedDay {
  const merged: MergedDay = { samples: [], created: [], updated: [], stale: 0, unchanged: 0, changed: false }
  let index = 0
  for (const sample of incoming) {
    while (index < stored.length && byKey(stored[index] as Sample, sample) < 0) merged.samples.push(stored[index++] as Sample)
    const existing = stored[index]
    if (existing && byKey(existing, sample) === 0) {
      merged.samples.push(resolveConflict(merged, existing, sample, received, lastWins))
      index++
    } else {
      const created = { ...sample, version: sample.version ?? received }
      merged.created.push(created)
      merged.samples.push(created)
      merged.changed = true
    }
  }
  for (; index < stored.length; index++) merged.samples.push(stored[index] as Sample)
  return merged
}

function resolveConflict(merged: MergedDay, existing: Sample, sample: IncomingSample, received: number, lastWins: boolean): Sample {
  const isIdentical = isSame(existing, sample)
  if (sample.version === null && isIdentical) return keepExisting(merged, existing)
  // A sample without a version arrived last, so it wins even if the clocks of replicas differ.
  const next: Sample = { ...sample, version: sample.version ?? Math.max(received, existing.version) }
  const isLast = lastWins && next.version === existing.version && !isIdentical
  if (sample.version !== null && !isLast && !replaces(next, existing)) {
    if (isIdentical) return keepExisting(merged, existing)
    merged.stale++
    return existing
  }
  merged.changed = true
  if (isIdentical) merged.unchanged++
  else merged.updated.push(next)
  return next
}

function keepExisting(merged: MergedDay, existing: Sample) {
  merged.unchanged++
  return existing
}

/** The later version wins; equal versions are ordered by content, so the order of arrival does not matter. */
const replaces = (a: Sample, b: Sample) => a.version > b.version || (a.version === b.version && contentOf(a) > contentOf(b))

type Content = Omit<Sample, 'version'>

const contentOf = ({ end, value, second, text, zone, more: extras }: Content) => JSON.stringify([end, value, second, text, zone, extras])

const isSame = (a: Content, b: Content) =>
  a.value === b.value && a.end === b.end && a.zone === b.zone && a.second === b.second && a.text === b.text && a.more === b.more

/** Sorts by key and removes duplicates. The latest version wins, or the last sample without a version. */
export function dedupeByKey(batch: IncomingSample[]): IncomingSample[] {
  const sorted = isSorted(batch) ? batch : batch.toSorted(byKey)
  const unique: IncomingSample[] = []
  for (const sample of sorted) {
    const last = unique.at(-1)
    if (!last || byKey(last, sample) !== 0) unique.push(sample)
    else if (supersedes(sample, last)) unique[unique.length - 1] = sample
  }
  return unique
}

function supersedes(sample: IncomingSample, last: IncomingSample) {
  if (sample.version === null) return true
  if (last.version === null) return false
  return replaces({ ...sample, version: sample.version }, { ...last, version: last.version })
}

function isSorted(batch: IncomingSample[]) {
  for (let i = 1; i < batch.length; i++) if (byKey(batch[i - 1] as IncomingSample, batch[i] as IncomingSample) > 0) return false
  return true
}
