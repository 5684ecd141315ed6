import type { App } from '../../platform/app.ts'
import type { Page } from '../../platform/paging.ts'
import * as store from './store.ts'

export type { AuditFilter } from './store.ts'

const CHAINS_AT_ONCE = 100

/** The newest rows of an organization in its chains. Each chain adds to the size of a statement, so many take several. */
export async function listNewest(app: App, chain_ids: string[], filter: store.AuditFilter, page: Page) {
  const found = []
  for (let i = 0; i < chain_ids.length; i += CHAINS_AT_ONCE)
    found.push(...(await store.listRows(app.db, chain_ids.slice(i, i + CHAINS_AT_ONCE), filter, page)))
  return found.sort((a, b) => b.id.localeCompare(a.id)).slice(0, page.limit + 1)
}
