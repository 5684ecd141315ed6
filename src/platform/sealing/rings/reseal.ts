import { type App, inTransaction } from '../../app.ts'
import { resealLarge } from '../large.ts'
import type { SealingKey } from '../seal.ts'
import type { SealedColumn } from './columns.ts'
import * as store from './store-reseal.ts'

const BATCH_SIZE = 100

/**
 * Encrypts everything of an owner that another key of the ring encrypted in these columns with the current one, in batches. A row that
 * is written meanwhile stays as it is. Returns how many rows it changed, and how many of those it found it could not change.
 */
export async function resealAll(app: App, columns: SealedColumn[], owner: store.KeyOwner, key: SealingKey) {
  const counts = { resealed: 0, missed: 0 }
  const others = (key.others ?? []).map(({ idBytes }) => idBytes)
  const owners = owner.user_id ? ['user', 'either'] : ['team', 'either']
  for (const column of columns.filter((column) => owners.includes(column.owner))) {
    const rows = await store.listOthers(app.db, column, owner, others)
    for (let start = 0; start < rows.length; start += BATCH_SIZE) {
      const { resealed, missed } = await resealBatch(app, column, owner, key, rows.slice(start, start + BATCH_SIZE))
      counts.resealed += resealed
      counts.missed += missed
    }
  }
  return counts
}

const resealBatch = (app: App, column: SealedColumn, owner: store.KeyOwner, key: SealingKey, rows: store.Row[]) =>
  inTransaction(app, async ({ db }) => {
    let [resealed, missed] = [0, 0]
    for (const { before: small, ...row } of await store.loadBatch(db, column, owner, rows)) {
      const before = small ?? (await store.readSealed(db, column, owner, row))
      if (!before) continue
      const after = await resealOrSkip(key, associatedDataOf(column, row), before)
      if (!after) continue
      if (await store.replaceSealed(db, column, owner, row, before, after)) resealed++
      else missed++
    }
    return { resealed, missed }
  })

/** A row that no key of the ring decrypts was unreadable before. It must not stop the rotation. */
const resealOrSkip = (key: SealingKey, associatedData: string, sealed: Buffer) =>
  resealLarge(key, associatedData, sealed).catch(() => undefined)

/** The text of a bytea begins with \x, which the associated data does not have. */
const associatedDataOf = ({ table, as = table, column, in: columns }: SealedColumn, row: store.Row) =>
  `${as}.${column}.${columns.map((name) => row[name]?.replace(/^\\x/, '')).join('.')}`
