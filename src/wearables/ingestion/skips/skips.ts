import { createHash } from 'node:crypto'
import type { NotedRecord } from '../../providers/cloud.ts'
import { countSkipped } from '../counters.ts'
import type { PullJob } from '../store.ts'
import * as rules from './rules.ts'

/** The records that a read of a feed left out. */
export type Skips = {
  /** Since the window began. */
  inWindow: number
  note(record: NotedRecord): void
  /** What to store if the read found other records than the last one. */
  change(now: string): { skipped?: string }
}

export function openSkips({ provider, connection_id, skipped }: PullJob): Skips {
  const stored = new Set(skipped.map(({ key }) => key))
  const found = new Map<string, rules.FoundRecord>()
  const read = new Set<string>()
  const keyOf = (kind: string, record: unknown) =>
    createHash('sha256')
      .update(`${connection_id} ${kind} ${rules.identityOf(kind, record)}`)
      .digest('base64url')
      .slice(0, 16)
  const skips: Skips = {
    inWindow: 0,
    note({ kind, record, fault }) {
      if (fault) {
        skips.inWindow++
        countSkipped(provider, fault.reason)
        if (found.size < rules.MAX_SKIPPED) found.set(keyOf(kind, record), { record: kind, ...fault })
      } else if (stored.size) read.add(keyOf(kind, record))
    },
    change: (now) =>
      found.size || skipped.some(({ key }) => read.has(key))
        ? { skipped: JSON.stringify(rules.nextSkipped(skipped, found, read, now)) }
        : {},
  }
  return skips
}
