import type { OrderDocument } from '../../labs/orders/encrypted-document.ts'
import { termsOf } from '../../labs/orders/placing/insert.ts'
import * as orders from '../../labs/orders/transfer.ts'
import * as results from '../../labs/results/transfer.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { indexTerms } from '../../platform/sealing/blind-index.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { Info } from '../../tenants/users/records.ts'
import { searchableTexts } from '../../tenants/users/rules.ts'
import * as users from '../../tenants/users/transfer.ts'
import { type Account, accountHash } from '../../wearables/connections/account.ts'
import { type DeviceDescription, fingerprintOf } from '../../wearables/connections/devices.ts'
import * as connections from '../../wearables/connections/transfer.ts'
import * as data from '../../wearables/data/transfer.ts'
import type { Part as PartDescription, Row } from './rules.ts'

/** Adds the function of the owning feature that inserts the rows. */
type Part = PartDescription & { insert(app: AppInTransaction, rows: Row[]): Promise<void> }

/** The tables with a user's data, in write order. A new kind of data is one row here. */
export const parts: Part[] = [
  {
    table: 'user_info',
    insert: (app, rows) => users.insertTransferred(app, 'user_info', rows),
    by: 'user_id',
    sealed: ['user_id'],
    ids: ['user_id'],
    order: 'updated_at',
  },
  // The import assigns a new sequence number, which marks the latest insurance.
  {
    table: 'user_insurances',
    insert: (app, rows) => users.insertTransferred(app, 'user_insurances', rows),
    by: 'user_id',
    sealed: ['user_id', 'id'],
    ids: ['user_id', 'id'],
    order: 'seq',
    drop: ['seq'],
  },
  {
    table: 'orders',
    insert: (app, rows) => orders.insertTransferred(app, 'orders', rows),
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id', 'transaction_id', 'parent_id', 'health_insurance_id'],
    order: 'created_at',
  },
  {
    table: 'order_events',
    insert: (app, rows) => orders.insertTransferred(app, 'order_events', rows),
    by: 'order_id',
    ids: ['order_id'],
    order: 'id',
  },
  {
    table: 'order_images',
    insert: (app, rows) => orders.insertTransferred(app, 'order_images', rows),
    by: 'order_id',
    sealed: ['order_id', 'name'],
    ids: ['order_id'],
    order: 'name',
  },
  {
    table: 'results',
    insert: (app, rows) => results.insertTransferred(app, 'results', rows),
    by: 'order_id',
    sealed: ['order_id', 'version'],
    ids: ['order_id'],
    order: 'version',
  },
  {
    table: 'connections',
    insert: (app, rows) => connections.insertTransferred(app, 'connections', rows),
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: 'created_at',
    drop: ['account_hash', 'renewing_until', 'pull_due_at', 'pull_tries', 'farewells', 'farewell_at'],
    secret: ['tokens'],
  },
  {
    table: 'devices',
    insert: (app, rows) => connections.insertTransferred(app, 'devices', rows),
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: 'created_at',
    drop: ['fingerprint'],
  },
  {
    table: 'summaries',
    insert: (app, rows) => data.insertTransferred(app, 'summaries', rows),
    by: 'user_id',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: 'created_at',
  },
  {
    table: 'resource_states',
    insert: (app, rows) => data.insertTransferred(app, 'resource_states', rows),
    by: 'user_id',
    ids: ['user_id'],
    order: 'resource',
  },
  {
    table: 'historical_pulls',
    insert: (app, rows) => data.insertTransferred(app, 'historical_pulls', rows),
    by: 'user_id',
    ids: ['user_id'],
    order: 'resource',
  },
]

type Keys = { team_id: string; user: SealingKey }

/** Recomputes search terms and hashes of a row with the keys of the target team and user. */
export async function recomputeHashes(app: App, { team_id, user }: Keys, table: string, row: Row): Promise<Row> {
  const document = row['sealed']
  if (table === 'user_info') return { terms: indexTerms(await teamSealingKey(app, team_id), searchableTexts(document as Info)) }
  if (table === 'orders') return { terms: await termsOf(app, team_id, document as OrderDocument) }
  if (table === 'devices') return { fingerprint: hex(fingerprintOf(user, document as DeviceDescription)) }
  if (table !== 'connections') return {}
  const hash = await accountHash(app, team_id, row['provider'] as string, document as Account)
  return { account_hash: hash && hex(hash) }
}

const hex = (bytes: Buffer) => `\\x${bytes.toString('hex')}`
