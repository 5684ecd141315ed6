import { type App, inTransaction } from '../../app.ts'
import { resealLarge } from '../large.ts'
import type { SealingKey } from '../seal.ts'
import * as store from './store-reseal.ts'

const byId = { column: 'sealed', key: ['id'], in: ['id'] }

/** Every column that a key of a team or a user encrypts. A test compares the list with the schema. */
export const sealedColumns: store.SealedColumn[] = [
  { ...byId, table: 'teams', column: 'contact', owner: 'team' },
  { ...byId, table: 'sealing_keys', column: 'wrapped', in: ['team_id', 'user_id', 'id'], owner: 'team' },
  { ...byId, table: 'team_epochs', column: 'wrapped', in: ['team_id', 'id'], owner: 'team' },
  { ...byId, table: 'webhooks', owner: 'team' },
  { ...byId, table: 'pipeline_destinations', key: ['destination'], in: ['team_id', 'destination'], owner: 'team' },
  { ...byId, table: 'team_credentials', owner: 'team' },
  { ...byId, table: 'physicians', key: ['npi'], in: ['npi'], owner: 'team' },
  { ...byId, table: 'couriers', key: ['code'], in: ['code'], owner: 'team' },
  // Before the log, to which rows move meanwhile.
  { ...byId, table: 'outbox', as: 'events', key: ['seq'], owner: 'either' },
  { ...byId, table: 'events', key: ['id', 'logged_at'], owner: 'either' },
  { ...byId, table: 'attempts', key: ['webhook_id', 'at', 'id'], owner: 'either' },
  { ...byId, table: 'inbox_messages', owner: 'either' },
  { ...byId, table: 'messages', owner: 'either' },
  {
    table: 'idempotency_keys',
    column: 'sealed',
    key: ['operation', 'key_hash'],
    in: ['team_id', 'operation', 'key_hash'],
    owner: 'either',
  },
  { ...byId, table: 'users', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_info', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_insurances', in: ['user_id', 'id'], owner: 'user' },
  { ...byId, table: 'orders', owner: 'user' },
  { ...byId, table: 'lab_messages', owner: 'user' },
  { ...byId, table: 'lab_messages', column: 'answer_sealed', owner: 'user' },
  { ...byId, table: 'order_images', key: ['order_id', 'name'], in: ['order_id', 'name'], owner: 'user' },
  { ...byId, table: 'appointments', owner: 'user' },
  { ...byId, table: 'results', key: ['order_id', 'version'], in: ['order_id', 'version'], owner: 'user' },
  { ...byId, table: 'result_documents', key: ['order_id', 'version', 'n'], in: ['order_id', 'version', 'n'], owner: 'user' },
  { ...byId, table: 'critical_results', key: ['order_id', 'version'], in: ['order_id', 'version'], owner: 'user' },
  { ...byId, table: 'unmatched_results', owner: 'either' },
  { ...byId, table: 'unmatched_results', column: 'documents_sealed', owner: 'either' },
  { ...byId, table: 'parsing_jobs', owner: 'user' },
  { ...byId, table: 'parsing_files', key: ['job_id', 'n'], in: ['job_id', 'n'], owner: 'user' },
  { ...byId, table: 'connections', owner: 'user' },
  { ...byId, table: 'devices', owner: 'user' },
  { ...byId, table: 'bulk_items', key: ['op_id', 'n'], in: ['op_id', 'n'], owner: 'user' },
  { ...byId, table: 'link_tokens', column: 'mfa_sealed', owner: 'user' },
  { ...byId, table: 'summaries', owner: 'user' },
  { ...byId, table: 'workout_streams', key: ['workout_id'], in: ['workout_id'], owner: 'user' },
  {
    table: 'sample_days',
    column: 'sealed',
    key: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    in: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    owner: 'user',
  },
]

const BATCH_SIZE = 100

/**
 * Encrypts everything of an owner that another key of the ring encrypted with the current one, in batches. A row that is written
 * meanwhile stays as it is. Returns how many rows it changed, and how many of those it found it could not change.
 */
export async function resealAll(app: App, owner: store.KeyOwner, key: SealingKey) {
  const counts = { resealed: 0, missed: 0 }
  const others = (key.others ?? []).map(({ idBytes }) => idBytes)
  const owners = owner.user_id ? ['user', 'either'] : ['team', 'either']
  for (const column of sealedColumns.filter((column) => owners.includes(column.owner))) {
    const rows = await store.listOthers(app.db, column, owner, others)
    for (let start = 0; start < rows.length; start += BATCH_SIZE) {
      const { resealed, missed } = await resealBatch(app, column, owner, key, rows.slice(start, start + BATCH_SIZE))
      counts.resealed += resealed
      counts.missed += missed
    }
  }
  return counts
}

const resealBatch = (app: App, column: store.SealedColumn, owner: store.KeyOwner, key: SealingKey, rows: store.Row[]) =>
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
const associatedDataOf = ({ table, as = table, column, in: columns }: store.SealedColumn, row: store.Row) =>
  `${as}.${column}.${columns.map((name) => row[name]?.replace(/^\\x/, '')).join('.')}`
