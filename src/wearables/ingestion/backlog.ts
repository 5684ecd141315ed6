import type { Db } from '../../platform/db/open.ts'
import { summarizeQuotas } from './applications/store.ts'
import * as store from './store.ts'

/** What the clouds wait for: the feeds of each source that are due or failing, and the requests that are left. */
export async function cloudBacklog(db: Db, now: string) {
  const remaining = new Map((await summarizeQuotas(db)).map((row) => [row.provider, row.remaining]))
  return (await store.summarizeJobs(db, now)).map((row) => ({ ...row, remaining: remaining.get(row.provider) ?? null }))
}
