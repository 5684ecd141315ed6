import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { isSourceType } from '../../../contract/wearables/series.ts'
import type { App } from '../../../platform/app.ts'
import { isDeadlock } from '../../../platform/db/errors.ts'
import { openBytes, type SealingKey, sealBytes } from '../../../platform/sealing/seal.ts'
import { DAY } from '../../../platform/time.ts'
import { dayOf } from '../rules-time.ts'
import type { Sample } from './rules-codec.ts'
import { dedupeByKey, type IncomingSample } from './rules-merge.ts'
import { mergePieces, type Piece, readDay, samplesIn, writeDay } from './rules-pieces.ts'
import * as store from './store-days.ts'
import type { WrittenDay } from './store-write.ts'

type SeriesScope = store.SeriesScope
export type Changes = { created: Sample[]; updated: Sample[]; stale: number; unchanged: number; days: number }

type MergeInput = {
  samples: IncomingSample[]
  /** The time of the push, which is the version of samples without modified_at. */
  received: number
  /** Whether an equal version replaces the stored one. */
  lastWins: boolean
  /** Whether to lock the days until the transaction ends. */
  locks: boolean
}

/** Merges samples into their days and returns the rows to write. */
export async function mergeSamples(app: App, key: SealingKey, scope: SeriesScope, { samples, received, lastWins, locks }: MergeInput) {
  const batches = groupByDay(samples)
  const keys = [...batches.values()].map(({ day, source_type }) => ({ day, source_type }))
  const rows = await (locks ? store.lockDays : store.findDays)(app.db, scope, keys)
  const stored = new Map(rows.map((row) => [keyOf(row), row]))
  const changes: Changes = { created: [], updated: [], stale: 0, unchanged: 0, days: batches.size }
  const written: WrittenDay[] = []
  let processed = 0
  for (const [dayKey, { day, source_type, samples }] of batches) {
    const row = stored.get(dayKey)
    processed += samples.length
    if (processed > YIELD_AFTER_SAMPLES) {
      processed = 0
      await yieldToOthers()
    }
    const merged = mergePieces(row ? piecesOf(key, scope, row) : [], dedupeByKey(samples), received, lastWins)
    for (const sample of merged.created) changes.created.push(sample)
    for (const sample of merged.updated) changes.updated.push(sample)
    changes.stale += merged.stale
    changes.unchanged += merged.unchanged
    if (merged.changed)
      written.push({
        ...{ day, source_type, samples: merged.pieces.reduce((sum, { count }) => sum + count, 0), revision: (row?.revision ?? 0) + 1 },
        sealed: sealDay(key, scope, { day, source_type }, merged.pieces),
      })
  }
  return { changes, written }
}

/** A long backfill yields to other requests. */
const YIELD_AFTER_SAMPLES = 10_000

/** Another request wrote the same rows first. The error code makes the caller retry. */
export const conflictingWrite = () => Object.assign(new Error('Concurrent write of the same summary'), { code: '40001' })

const LOCK_FREE_ATTEMPTS = 2

/**
 * Merges without locks and retries after a conflicting write. After two conflicts, or inside a transaction,
 * it locks the days first.
 */
export async function retryWrite<T>(app: App, work: (locks: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < LOCK_FREE_ATTEMPTS && !app.transaction; attempt++)
    try {
      return await work(false)
    } catch (error) {
      if (!isDeadlock(error)) throw error
    }
  return work(true)
}

const piecesOf = (key: SealingKey, scope: SeriesScope, row: store.DayKey & { sealed: Buffer }) =>
  readDay(openBytes(key, associatedData(scope, row), row.sealed))

export const openDay = (key: SealingKey, scope: SeriesScope, row: store.DayKey & { sealed: Buffer }) => samplesIn(piecesOf(key, scope, row))

export const sealDay = (key: SealingKey, scope: SeriesScope, at: store.DayKey, pieces: Piece[]) =>
  sealBytes(key, associatedData(scope, at), writeDay(pieces))

const associatedData = ({ user_id, resource, provider }: SeriesScope, { day, source_type }: store.DayKey) =>
  `sample_days.sealed.${user_id}.${resource}.${day}.${provider}.${source_type}`

type Batch = store.DayKey & { samples: IncomingSample[] }

const keyOf = ({ day, source_type }: store.DayKey) => `${day} ${source_type}`

/** Other types can reveal something about the user, so only the encrypted part has them. */
export const columnOf = (type: string) => (type === '' || isSourceType(type) ? type : 'other')

/** Groups samples by day, in lock order. */
function groupByDay(samples: IncomingSample[]): Map<string, Batch> {
  const found = new Map<string, Batch>()
  let last: { until: number; from: number; type: string; batch: Batch } | undefined
  for (const sample of samples) {
    if (!last || sample.type !== last.type || sample.at < last.from || sample.at >= last.until) {
      const from = Math.floor(sample.at / DAY) * DAY
      const key = { day: dayOf(from), source_type: columnOf(sample.type) }
      const batch = found.get(keyOf(key)) ?? { ...key, samples: [] }
      found.set(keyOf(key), batch)
      last = { from, until: from + DAY, type: sample.type, batch }
    }
    last.batch.samples.push(sample)
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
