import type { App } from '../app.ts'
import { type Account, accountHash } from '../connections/account.ts'
import { type About, fingerprintOf } from '../connections/devices.ts'
import type { OrderDocument } from '../orders/document.ts'
import { termsOf } from '../orders/insert.ts'
import { indexTerms } from '../sealing/blind-index.ts'
import type { SealingKey } from '../sealing/seal.ts'
import { teamSealingKey } from '../sealing/vault.ts'
import type { Info } from '../users/records.ts'
import { searchable } from '../users/rules.ts'
import type { Part, Row } from './rules.ts'

/** What belongs to a user, in the order in which it is written. Something new that a user has is one row here. */
export const parts: Part[] = [
  { table: 'user_info', by: 'user_id', sealed: ['user_id'], ids: ['user_id'], order: 'updated_at' },
  // The number that says which is the latest is given anew.
  { table: 'user_insurances', by: 'user_id', sealed: ['user_id', 'id'], ids: ['user_id', 'id'], order: 'seq', drop: ['seq'] },
  {
    table: 'orders',
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id', 'transaction_id', 'parent_id', 'health_insurance_id'],
    order: 'created_at',
  },
  { table: 'order_events', by: 'order_id', ids: ['order_id'], order: 'id' },
  { table: 'order_images', by: 'order_id', sealed: ['order_id', 'name'], ids: ['order_id'], order: 'name' },
  { table: 'results', by: 'order_id', sealed: ['order_id', 'version'], ids: ['order_id'], order: 'version' },
  {
    table: 'connections',
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: 'created_at',
    drop: ['account_hash', 'renewing_until', 'pull_due_at', 'pull_tries', 'farewells', 'farewell_at'],
    secret: ['tokens'],
  },
  { table: 'devices', by: 'user_id', sealed: ['id'], ids: ['id', 'user_id'], order: 'created_at', drop: ['fingerprint'] },
  { table: 'summaries', by: 'user_id', sealed: ['id'], ids: ['id', 'user_id'], order: 'created_at' },
  { table: 'resource_states', by: 'user_id', ids: ['user_id'], order: 'resource' },
  { table: 'historical_pulls', by: 'user_id', ids: ['user_id'], order: 'resource' },
]

export type Keys = { team_id: string; user: SealingKey }

/** What a row is found by, made anew with the keys of the team and the user that it goes to. */
export async function keyedFor(app: App, { team_id, user }: Keys, table: string, row: Row): Promise<Row> {
  const document = row['sealed']
  if (table === 'user_info') return { terms: indexTerms(await teamSealingKey(app, team_id), searchable(document as Info)) }
  if (table === 'orders') return { terms: await termsOf(app, team_id, document as OrderDocument) }
  if (table === 'devices') return { fingerprint: hex(fingerprintOf(user, document as About)) }
  if (table !== 'connections') return {}
  const hash = await accountHash(app, team_id, row['provider'] as string, document as Account)
  return { account_hash: hash && hex(hash) }
}

const hex = (bytes: Buffer) => `\\x${bytes.toString('hex')}`
