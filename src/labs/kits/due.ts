import { statusOfStep } from '../../contract/labs/lifecycle.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import type { Db } from '../../platform/db/open.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { advanceOrder } from '../orders/progress/advance.ts'
import { lockOrder } from '../orders/reading/present.ts'
import { loadLimits } from './limits.ts'
import * as rules from './rules.ts'
import { emitAlert } from './scans.ts'
import * as store from './store.ts'

export { searchOverdue } from './store.ts'

const BATCH_SIZE = 100

/** Marks the kits that are overdue on their team's clock; returns whether there may be more. */
export async function markOverdueKits(app: App, team_id?: string) {
  const due = await store.listOverdue(app.db, app.wall(), BATCH_SIZE, team_id)
  for (const { clock_offset_ms, ...kit } of due)
    await inTransaction(app.transaction ? app : onTeamClock(app, { clock_offset_ms }), (app) => markOverdue(app, kit))
  return due.length === BATCH_SIZE
}

/** The kit may have moved since it was found, so it is read again under the lock of its order. */
async function markOverdue(app: AppInTransaction, { team_id, order_id }: { team_id: string; order_id: string }) {
  const order = await lockOrder(app, team_id, order_id)
  const kit = await store.findKit(app.db, team_id, order_id)
  if (!kit?.due_at || kit.due_at > app.now()) return
  const overdue_at = app.now()
  const step = rules.overdueStep(order)
  if (step) {
    await advanceOrder(app, order, step)
    return store.markOverdue(app.db, team_id, order_id, { overdue_at })
  }
  await store.markOverdue(app.db, team_id, order_id, { overdue_at, due_at: null, alerted: true })
  await emitAlert(app, order, 'overdue', rules.limitOf(await loadLimits(app, team_id), kit.leg as rules.Leg))
}

type ListQuery = { next_cursor?: string | null | undefined }

export async function listOverdueKits(app: App, { team_id }: TeamCaller, { next_cursor }: ListQuery) {
  const page = pageAfter(next_cursor)
  const found = await store.listOverdueOf(app.db, team_id, page)
  const { rows, next_cursor: next } = pageOf(found, page, ({ overdue_at, order_id }) => ({ at: overdue_at, id: order_id }))
  return { kits: rows.map(({ method, low_level, ...kit }) => ({ ...kit, status: statusOfStep(method, low_level) })), next_cursor: next }
}

const MAX_COUNTED = 10_000

/** How many kits of any team are overdue. */
export const countOverdueKits = (db: Db) => store.countOverdue(db, MAX_COUNTED)

export const findNextOverdue = async (app: App, team_id: string) => (await store.findNextDue(app.db, team_id))?.at ?? undefined
