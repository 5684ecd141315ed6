import { emitRow } from '../../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { DAY, later } from '../../../platform/time.ts'
import { canActivateOn, dispatchAt } from '../checks/rules-schedule.ts'
import { orderReply } from '../placing/insert.ts'
import { type LoadedOrder, loadTransactionOrders, lockOrder, lockOrders } from '../reading/present.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'
import * as samples from '../store-samples.ts'
import { advanceOrder, changeOrder, orderEvent } from './advance.ts'
import { DISPATCH_ORDERS, sendOrder } from './dispatch.ts'
import { cancelRequestedWarning, withLabWarning } from './rules-lab-warnings.ts'

/** Changes the day on which a held order goes to the lab. Gap 316: null sends it in the same transaction. */
export async function rescheduleOrder(app: App, { team_id }: TeamCaller, id: string, activate_by: string | null) {
  const reply = await inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, id)
    const now = app.now()
    rules.checkReschedule(order, activate_by === null || canActivateOn(activate_by, now, order.zone))
    if (activate_by === order.activate_by) return orderReply(app, order, 'order updated')
    const held = order.low_level === 'ordered'
    const updated = await changeOrder(app, order, { activate_by, dispatch_at: held ? dispatchAt(activate_by, app, order.zone) : null })
    const isDue = held && activate_by === null
    return orderReply(app, isDue ? await sendOrder(app, updated) : updated, 'order updated')
  })
  app.wake('job', DISPATCH_ORDERS)
  return reply
}

export const cancelOrder = (app: App, { team_id }: TeamCaller, id: string) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, id)
    if (rules.isCancelled(order)) return orderReply(app, order, 'order already cancelled')
    rules.checkCancellable(order)
    if ((await app.orderFlow.labFor(app, order).cancel(app, order)) === 'requested')
      return orderReply(app, await changeOrder(app, order, withCancellationRequested(order)), 'cancellation requested')
    const cancelled = await advanceOrder(app, order, 'cancelled', { step_at: null, simulation: null })
    return orderReply(app, cancelled, 'order cancelled')
  })

/** The lab decides later, so the order shows that it was asked. */
const withCancellationRequested = ({ document }: LoadedOrder) => ({
  document: { warnings: withLabWarning(document.warnings, cancelRequestedWarning) },
})

export const completeDraw = (app: App, { team_id }: TeamCaller, id: string) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, id)
    rules.checkDraw(order)
    return orderReply(app, await advanceOrder(app, order, 'draw_completed'), 'draw completed')
  })

export async function getOrderTransaction(app: App, { team_id }: TeamCaller, id: string) {
  const orders = await loadTransactionOrders(app, team_id, id)
  return {
    id,
    team_id,
    status: rules.transactionStatus(orders),
    orders: orders.map((order) => ({ ...order, last_status: order.low_level, last_status_created_at: order.last_event_at })),
  }
}

const MAX_WINDOW_MS = 60 * DAY
export const MAX_RESENT_ORDERS = 1000

type ResendFilter = { order_ids?: string[] | null | undefined; start_at?: string | null | undefined; end_at?: string | null | undefined }

/** Emits the latest event of the orders again, with their current state. */
export const resendOrderEvents = (app: App, { team_id }: TeamCaller, { order_ids, start_at, end_at }: ResendFilter) =>
  inTransaction(app, async (app) => {
    const until = end_at ?? app.now()
    if (!order_ids?.length && !start_at) throw invalid(['body'], 'Send order_ids or start_at.')
    if (start_at && (start_at > until || until > later(start_at, MAX_WINDOW_MS)))
      throw invalid(['body', 'end_at'], 'Must be after start_at and at most 60 days later.')
    const rows = await store.listChangedOrders(
      app.db,
      team_id,
      { order_ids, start_at, end_at: start_at ? until : null },
      MAX_RESENT_ORDERS + 1,
    )
    if (rows.length > MAX_RESENT_ORDERS)
      throw problem('TOO_MANY_TO_RESEND', `More than ${MAX_RESENT_ORDERS} orders match. Send a shorter window.`)
    const orders = await lockOrders(
      app,
      team_id,
      rows.map(({ id }) => id),
    )
    for (const order of orders) {
      const type = order.last_event === 1 ? 'labtest.order.created' : 'labtest.order.updated'
      await emitRow(app, orderEvent(app, order, type, app.now()))
    }
    return { order_ids: orders.map((order) => order.id) }
  })

/** Deletes every order of a team with its events in the caller's transaction. Their results remain. */
export async function deleteOrdersOf(app: AppInTransaction, team_id: string) {
  const deleted = await store.deleteOrdersOf(app.db, team_id)
  await store.deleteOrphanedEvents(app.db, team_id)
  await samples.deleteSamplesOfTeam(app.db, team_id)
  return deleted
}

/** Deletes the order events of a team whose orders were deleted with it. */
export const deleteOrphanedEvents = ({ db }: AppInTransaction, team_id: string) => store.deleteOrphanedEvents(db, team_id)

/** Detaches the orders of users who are being erased, and deletes the personal data in them. Call it before the users are deleted. */
export async function forgetPatients(app: AppInTransaction, team_id: string, user_ids: string[]) {
  const order_ids = await store.forgetPatients(app.db, team_id, user_ids)
  if (!order_ids.length) return
  await samples.deleteSamplesOfOrders(app.db, team_id, order_ids)
  for (const { forgetOrders } of app.orderFlow.followers) await forgetOrders?.(app, team_id, order_ids)
}
