import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction, withoutRequestRows } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { seal } from '../../platform/sealing/seal.ts'
import { DAY, later, MINUTE, SECOND } from '../../platform/time.ts'
import { findUsers, unwrapUserKey } from '../../tenants/users/actions.ts'
import { requireClient } from '../team-sources/oauth-client.ts'
import { bulkItemAssociatedData, type ImportedConnection, processItem } from './items.ts'
import * as store from './store.ts'

export { searchOpenOperations } from './store.ts'

/** The job that processes bulk operations. */
export const RUN_BULK_OPERATIONS = 'run bulk operations'

const MAX_WAIT_MS = 20 * SECOND
/** Longer than any item takes. */
const CLAIM_LEASE_MS = 2 * MINUTE
const RETENTION_MS = 30 * DAY

type Import = { provider: SourceSlug; connections: ImportedConnection[]; wait_for_completion: boolean }

export async function bulkImport(app: App, { team_id }: TeamCaller, { provider, connections, wait_for_completion }: Import) {
  await requireClient(app, team_id, provider)
  const operation = await createOperation(app, { team_id, provider, type: 'link_bulk_import' }, connections)
  const { isRunning, done, failed } = await awaitOutcome(app, operation, wait_for_completion)
  return { isRunning, user_ids_imported: done, user_ids_failed: failed }
}

type Pull = { provider: SourceSlug; user_ids: string[]; wait_for_completion: boolean }

export async function bulkTriggerHistoricalPull(app: App, { team_id }: TeamCaller, { provider, user_ids, wait_for_completion }: Pull) {
  const users = [...new Set(user_ids)].map((user_id) => ({ user_id }))
  const operation = await createOperation(app, { team_id, provider, type: 'link_bulk_historical_trigger' }, users)
  const { isRunning, done, failed } = await awaitOutcome(app, operation, wait_for_completion)
  return { isRunning, user_ids_triggered: done, user_ids_failed: failed }
}

type NewOperation = { team_id: string; provider: SourceSlug; type: 'link_bulk_import' | 'link_bulk_historical_trigger' }

/** Stores the operation before any work, so that it survives a restart. */
const createOperation = (app: App, { team_id, provider, type }: NewOperation, entries: ({ user_id: string } | ImportedConnection)[]) =>
  inTransaction(withoutRequestRows(app), async (app) => {
    const id = randomUUID()
    const users = await findUsers(app, team_id, [...new Set(entries.map(({ user_id }) => user_id))])
    const keys = new Map(await Promise.all(users.map(async (user) => [user.user_id, await unwrapUserKey(app, user)] as const)))
    const items = entries.flatMap((entry, n) => {
      const key = keys.get(entry.user_id)
      const sealed = key && 'access_token' in entry ? seal(key, bulkItemAssociatedData(id, n), entry) : null
      return key ? [{ op_id: id, n, team_id, user_id: entry.user_id, sealed }] : []
    })
    const unknown = entries.filter(({ user_id }) => !keys.has(user_id)).map(({ user_id }) => user_id)
    await store.insertOperation(app.db, { id, team_id, type, provider, unknown, total: entries.length, started_at: app.wall() })
    if (items.length) await store.insertItems(app.db, items)
    return store.getOperation(app.db, team_id, id)
  })

/** Waits for the outcome, or returns the progress so far. A waiting request also does the work, because its process may not run jobs. */
async function awaitOutcome(app: App, operation: store.BulkOperation, shouldWait: boolean) {
  const startedAt = Date.now()
  while (shouldWait && Date.now() - startedAt < MAX_WAIT_MS && (await isInProgress(app, operation)))
    if (!(await processNext(withoutRequestRows(app), operation))) await pause(100)
  await store.endOperation(app.db, operation, app.wall())
  const isRunning = await isInProgress(app, operation)
  if (isRunning) app.wake('job', RUN_BULK_OPERATIONS)
  const items = await store.listItems(app.db, operation)
  const usersIn = (state: string) => items.filter((item) => item.state === state).map(({ user_id }) => user_id)
  return { isRunning, done: usersIn('done'), failed: [...usersIn('failed'), ...operation.unknown] }
}

const isInProgress = async (app: App, { team_id, id }: store.BulkOperation) =>
  (await store.getOperation(app.db, team_id, id)).status === 'in_progress'

/** Processes one item. Returns whether there was one. */
async function processNext(app: App, operation: store.BulkOperation) {
  const now = app.wall()
  const item = await store.claimItem(app.db, operation, now, later(now, CLAIM_LEASE_MS))
  if (item) await store.settleItem(app.db, item, (await processItem(app, operation, item)) ? 'done' : 'failed')
  else await store.endOperation(app.db, operation, now)
  return item !== undefined
}

/** Other processes can work on the first operations. */
const MAX_OPERATIONS = 20

/** Processes one item of any team. Returns whether there can be more. */
export async function runBulk(app: App): Promise<boolean> {
  for (const operation of await store.findOpenOperations(app.db, MAX_OPERATIONS)) if (await processNext(app, operation)) return true
  return false
}

export const pruneBulk = (app: App) => store.deleteOldOperations(app.db, later(app.wall(), -RETENTION_MS))

export async function listBulkOps(
  app: App,
  { team_id }: TeamCaller,
  query: { next_cursor?: string | null | undefined; page_size: number },
) {
  const page = pageAfter(query.next_cursor, query.page_size)
  const { rows, next_cursor } = pageOf(await store.listOperations(app.db, team_id, page), page, ({ started_at, id }) => ({
    at: started_at,
    id,
  }))
  return {
    data: rows.map((operation) => ({
      ...operation,
      pending: operation.pending ?? 0,
      processed: operation.total - (operation.pending ?? 0),
    })),
    next_cursor,
  }
}
