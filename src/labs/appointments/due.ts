import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../platform/app.ts'
import { lockOrder } from '../orders/reading/present.ts'
import { endVisit, recordProgress } from './actions.ts'
import { confirmRequest } from './requests.ts'
import * as store from './store.ts'
import { loadVisit } from './visit.ts'

export { searchDueVisits } from './store.ts'

const BATCH_SIZE = 100

/** Changes the appointments that are due on their team's clock; returns whether there may be more. */
export async function changeDueVisits(app: App, team_id?: string) {
  const due = await store.listDueVisits(app.db, app.wall(), BATCH_SIZE, team_id)
  for (const { clock_offset_ms, ...visit } of due)
    await inTransaction(app.transaction ? app : onTeamClock(app, { clock_offset_ms }), (app) => changeVisit(app, visit))
  return due.length === BATCH_SIZE
}

/** The visit may have changed since it was found, so it is read again under the lock of its order. */
async function changeVisit(app: AppInTransaction, { team_id, order_id }: { team_id: string; order_id: string }) {
  const order = await lockOrder(app, team_id, order_id)
  const visit = await loadVisit(app, order)
  if (!visit?.due_at || visit.due_at > app.now()) return
  if (visit.status === 'reserved') return endVisit(app, order, visit, { origin: 'automatic' })
  if (visit.status === 'pending') return confirmRequest(app, order, visit)
  return recordProgress(app, order, visit, visit.status === 'confirmed' ? 'in_progress' : 'completed')
}

export const findNextVisitChange = async (app: App, team_id: string) => (await store.findNextDue(app.db, team_id))?.at ?? undefined
