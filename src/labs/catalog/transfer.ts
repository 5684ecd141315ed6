import type { AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Refuse } from '../../tenants/users/transfer-part.ts'
import { dropUnknownAccounts } from './accounts/transfer.ts'
import * as store from './store-transfer.ts'

export { findExistingTests, listTeamTests } from './store-transfer.ts'

/** Writes a lab test that the team created, unless it already exists. */
export async function importTest(app: AppInTransaction, team_id: string, test: JsonRow, refuse: Refuse) {
  if ((await store.findExistingTests(app.db, team_id, [test['id'] as string])).length) return
  const markerIds = test['marker_ids'] as number[]
  const existing = await store.findExistingMarkers(app.db, markerIds)
  if (!markerIds.every((id) => existing.includes(id)))
    throw refuse('the lab test has markers that are not in the catalog of this deployment; load that catalog first')
  const [row] = await dropUnknownAccounts(app, [test])
  await store.insertTest(app.db, { ...row, team_id })
}
