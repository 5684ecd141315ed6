import { setImmediate as others } from 'node:timers/promises'
import type { App } from '../app.ts'
import { sourceTypes } from '../contract/series.ts'
import { openBytes, type SealingKey, sealBytes } from '../sealing/seal.ts'
import { decodeDay, encodeDay, type Sample } from './rules-codec.ts'
import { type Incoming, mergeDay, onePerKey } from './rules-merge.ts'
import { dayOf } from './rules-time.ts'
import * as store from './store-days.ts'

export type Shelf = store.Shelf
export type WrittenDay = store.WrittenDay
export type Changes = { created: Sample[]; updated: Sample[]; stale: number; unchanged: number; days: number }

/** Lays samples over the days they belong to, and holds those: what is to be written of them. `received` is the version of what has none. */
export async function mergeSamples(app: App, key: SealingKey, shelf: Shelf, samples: Incoming[], received: number) {
  const batches = byDay(samples)
  const keys = [...batches.values()].map(({ day, source_type }) => ({ day, source_type }))
  const stored = new Map((await store.lockDays(app.db, shelf, keys)).map((row) => [nameOf(row), row]))
  const changes: Changes = { created: [], updated: [], stale: 0, unchanged: 0, days: batches.size }
  const written: store.WrittenDay[] = []
  let busy = 0
  for (const [name, { day, source_type, samples }] of batches) {
    const row = stored.get(name)
    busy += samples.length
    if (busy > MOST_AT_ONCE) {
      busy = 0
      await others()
    }
    const merged = mergeDay(row ? openDay(key, shelf, row) : [], onePerKey(samples), received)
    for (const sample of merged.created) changes.created.push(sample)
    for (const sample of merged.updated) changes.updated.push(sample)
    changes.stale += merged.stale
    changes.unchanged += merged.unchanged
    if (merged.changed)
      written.push({
        ...{ day, source_type, samples: merged.samples.length, revision: (row?.revision ?? 0) + 1 },
        sealed: sealBytes(key, placeOf(shelf, { day, source_type }), encodeDay(merged.samples)),
      })
  }
  return { changes, written }
}

/** A long backfill lets other requests have their turn. */
const MOST_AT_ONCE = 10_000

/** Writes days, what came in of the resource, and the events about it. Answers which webhooks are told. */
export async function writeSamples(app: App, shelf: Shelf, days: store.WrittenDay[], state: store.State, events: store.Event[]) {
  const { written, told } = await store.writeBatch(app.db, shelf, days, state, events)
  if (written < days.length) throw outrun()
  return told
}

/** Somebody else began one of the days in the same moment; the transaction goes again, and finds it. */
export const outrun = () => Object.assign(new Error('A day of samples was begun twice at once'), { code: '40001' })

export const openDay = (key: SealingKey, shelf: Shelf, row: store.DayKey & { sealed: Buffer }) =>
  decodeDay(openBytes(key, placeOf(shelf, row), row.sealed))

const placeOf = ({ user_id, resource, provider }: Shelf, { day, source_type }: store.DayKey) =>
  `sample_days.sealed.${user_id}.${resource}.${day}.${provider}.${source_type}`

type Batch = store.DayKey & { samples: Incoming[] }

const nameOf = ({ day, source_type }: store.DayKey) => `${day} ${source_type}`

const named = new Set<string>(['', ...sourceTypes])

/** What is no source type may say something about the user, so it stays inside. */
export const columnOf = (type: string) => (named.has(type) ? type : 'other')

const DAY = 86_400_000

/** Days in the order in which they are locked. */
function byDay(samples: Incoming[]): Map<string, Batch> {
  const found = new Map<string, Batch>()
  let last: { until: number; from: number; type: string; batch: Batch } | undefined
  for (const sample of samples) {
    if (!last || sample.type !== last.type || sample.at < last.from || sample.at >= last.until) {
      const from = Math.floor(sample.at / DAY) * DAY
      const key = { day: dayOf(from), source_type: columnOf(sample.type) }
      const batch = found.get(nameOf(key)) ?? { ...key, samples: [] }
      found.set(nameOf(key), batch)
      last = { from, until: from + DAY, type: sample.type, batch }
    }
    last.batch.samples.push(sample)
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
