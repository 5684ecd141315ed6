import type { OrderDocument } from '../../labs/orders/encrypted-document.ts'
import { termsOf } from '../../labs/orders/placing/insert.ts'
import type { App } from '../../platform/app.ts'
import { indexTerms } from '../../platform/sealing/blind-index.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { Info } from '../../tenants/users/records.ts'
import { searchable } from '../../tenants/users/rules.ts'
import { type Account, accountHash } from '../../wearables/connections/account.ts'
import { type About, fingerprintOf } from '../../wearables/connections/devices.ts'
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
