import type { App } from '../../../platform/app.ts'
import { canStartOver } from '../../../platform/db/errors.ts'
import { openBytes, type SealingKey, sealBytes } from '../../../platform/sealing/seal.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import type { Sample } from './rules-codec.ts'
import { groupByDay, keyOf } from './rules-days.ts'
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
  early?: EarlyDays | undefined
}

/** Days that were read before the push was checked. Undefined unless all of `keys` are among them, and after the first time. */
export type EarlyDays = (keys: store.DayKey[]) => Promise<store.DayRow[]> | undefined

/**
 * Starts to read days in the turn in which the user is read, so that both take one round trip. The write finds out if another
 * request changed one of the days since.
 */
export function readDaysEarly(app: App, scope: SeriesScope, keys: store.DayKey[]): EarlyDays {
  if (!keys.length || keys.length > store.MAX_PIPELINED_DAYS) return () => undefined
  const names = new Set(keys.map(keyOf))
  let rows: Promise<store.DayRow[]> | undefined = store.findDays(app.db, scope, keys)
  // Nobody waits for it if the push is rejected.
  rows.catch(() => {})
  return (needed) => {
    const read = rows
    rows = undefined
    return needed.every((key) => names.has(keyOf(key))) ? read : undefined
  }
}

/** Merges samples into their days and returns the rows to write. */
export async function mergeSamples(
  app: App,
  key: SealingKey,
  scope: SeriesScope,
  { samples, received, lastWins, locks, early }: MergeInput,
) {
  const batches = groupByDay(samples)
  const keys = [...batches.values()].map(({ day, source_type }) => ({ day, source_type }))
  const rows = await (locks ? store.lockDays(app.db, scope, keys) : (early?.(keys) ?? store.findDays(app.db, scope, keys)))
  const stored = new Map(rows.map((row) => [keyOf(row), row]))
  const changes: Changes = { created: [], updated: [], stale: 0, unchanged: 0, days: batches.size }
  const written: WrittenDay[] = []
  const endSlice = cutIntoSlices()
  let work = 0
  for (const [dayKey, { day, source_type, samples }] of batches) {
    const row = stored.get(dayKey)
    work += samples.length + WORK_OF_DAY
    if (work > WORK_PER_STEP) {
      work = 0
      await endSlice()
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

/** In samples: what merging a day takes besides its samples, and what is merged between two pauses. A live push has no pause. */
const WORK_OF_DAY = 200
const WORK_PER_STEP = 1000

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
      if (!canStartOver(error)) throw error
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
