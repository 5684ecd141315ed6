import type { App } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Import, Part } from '../../tenants/users/transfer-part.ts'
import { dropUnknownAccounts } from '../catalog/accounts/transfer.ts'
import { findExistingTests } from '../catalog/transfer.ts'
import type { OrderDocument } from './encrypted-document.ts'
import { searchTermsOf } from './placing/insert.ts'
import { insertSamples } from './store-transfer.ts'

export const parts: Part[] = [
  {
    table: 'orders',
    sealed: ['id'],
    ids: ['id', 'user_id', 'transaction_id', 'parent_id', 'health_insurance_id'],
    order: ['created_at', 'id'],
    adapt: adaptOrders,
    rehash: async ({ sealed }, { app, team_id }) => ({ terms: await searchTermsOf(app, team_id, sealed as OrderDocument) }),
    finish: ({ db }, rows) => insertSamples(db, samplesOf(rows)),
  },
  { table: 'order_events', through: { column: 'order_id', table: 'orders' }, ids: ['order_id'], order: ['order_id', 'id'] },
  {
    table: 'order_images',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['order_id', 'name'],
    ids: ['order_id'],
    order: ['order_id', 'name'],
  },
]

async function adaptOrders(rows: JsonRow[], { app, team_id, isCopy, idOf, refuse }: Import) {
  const testIds = await importedTests(app, team_id, rows, idOf)
  const adapted = rows.map((row) => ({ ...row, lab_test_id: testIds.get(row['lab_test_id']), ...(isCopy && notOrdered) }))
  if (adapted.some(({ lab_test_id }) => !lab_test_id))
    throw refuse('an order refers to a lab test that is not in the catalog of this deployment; load that catalog first')
  return dropUnknownAccounts(app, adapted)
}

/** The tests of these orders after the import. Those that the team created were imported before, with IDs of their own. */
async function importedTests(app: App, team_id: string, rows: JsonRow[], idOf: Import['idOf']) {
  const ids = [...new Set(rows.map((row) => row['lab_test_id'] as string))]
  const existing = await findExistingTests(app.db, team_id, [...ids, ...ids.map(idOf)])
  return new Map<unknown, string | undefined>(ids.map((id) => [id, [idOf(id), id].find((one) => existing.includes(one))]))
}

/** A copied order is history: Assay sends it to no lab and schedules no work for it. */
const notOrdered = { sample_id: null, sent_at: null, dispatch_at: null, step_at: null, simulation: null }

/** Of orders with the same specimen, the latest has it: it continues the others. */
function samplesOf(rows: JsonRow[]) {
  const sampled = rows.filter(({ sample_id }) => typeof sample_id === 'string')
  const latest = new Map(sampled.map((row) => [`${row['lab_id']} ${row['sample_id']}`, row]))
  return [...latest.values()].map(({ lab_id, sample_id, team_id, id: order_id }) => ({ lab_id, sample_id, team_id, order_id }))
}
