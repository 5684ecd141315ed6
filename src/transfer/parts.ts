import type { App } from '../app.ts'
import type { OrderDocument } from '../orders/document.ts'
import { termsOf } from '../orders/insert.ts'
import { indexTerms } from '../sealing/blind-index.ts'
import { teamSealingKey } from '../sealing/vault.ts'
import type { Info } from '../users/records.ts'
import { searchable } from '../users/rules.ts'
import type { Part } from './rules.ts'

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
]

/** The blind index of a row under the key of the team that it goes to; undefined where there is none. */
export async function termsFor(app: App, team_id: string, table: string, document: unknown) {
  if (table === 'user_info') return indexTerms(await teamSealingKey(app, team_id), searchable(document as Info))
  return table === 'orders' ? termsOf(app, team_id, document as OrderDocument) : undefined
}
