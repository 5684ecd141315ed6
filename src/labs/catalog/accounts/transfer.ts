import type { App } from '../../../platform/app.ts'
import type { JsonRow } from '../../../platform/db/rows/json-rows.ts'
import * as store from './store.ts'

/** Lab accounts belong to one deployment, so an import drops accounts that do not exist here. */
export async function dropUnknownAccounts({ db }: App, rows: JsonRow[]) {
  const ids = rows.flatMap((row) => (typeof row['lab_account_id'] === 'string' ? [row['lab_account_id']] : []))
  const existing = ids.length ? await store.findExistingAccounts(db, [...new Set(ids)]) : []
  return rows.map((row) => (existing.includes(row['lab_account_id'] as string) ? row : { ...row, lab_account_id: null }))
}
