import type { StatusDetail } from '../../../contract/labs/orders.ts'
import { eventRow } from '../../../delivery/events/emit.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { problem } from '../../../platform/problem.ts'
import { dayIn } from '../../geography/rules-zones.ts'
import { encryptDocument, type OrderDocument } from '../encrypted-document.ts'
import { updateOrders } from '../placing/store-write.ts'
import { type LoadedOrder, presentOrder } from '../reading/present.ts'
import * as rules from '../rules.ts'
import { changeSample, changeSamples } from '../samples.ts'
import type { OrderRow } from '../store.ts'
import { dueDatesOf } from './rules-due-dates.ts'

export type Change = Partial<
  Pick<
    OrderRow,
    | 'activate_by'
    | 'dispatch_at'
    | 'sent_at'
    | 'step_at'
    | 'simulation'
    | 'sample_id'
    | 'collected_at'
    | 'interpretation'
    | 'has_missing_results'
    | 'result_version'
  >
> & { document?: Partial<OrderDocument>; status_detail?: StatusDetail | null }

/**
 * The only function that moves an order to a later status: appends the step, changes the row and emits the event in the caller's transaction.
 * The caller holds the lock and has classified the step; the transition is checked again.
 */
export async function advanceOrder(app: AppInTransaction, order: LoadedOrder, step: string, change: Change = {}): Promise<LoadedOrder> {
  const next = prepareStep(app, { order, step, change })
  await changeSample(app, order, next.updated)
  await updateOrders(app.db, order.team_id, [updateOf(next)])
  app.wake('team log', order.team_id)
  return runFollowers(app, next)
}

type Step = { order: LoadedOrder; step: string; change: Change }

/** Does what `advanceOrder` does, for several orders of a team that belong to different transactions. They share statements. */
export async function advanceOrders(app: AppInTransaction, team_id: string, steps: Step[]) {
  const prepared = steps.map((step) => prepareStep(app, step))
  await changeSamples(
    app,
    team_id,
    prepared.map(({ order, updated }) => ({ before: order, after: updated })),
  )
  await updateOrders(app.db, team_id, prepared.map(updateOf))
  app.wake('team log', team_id)
  for (const next of prepared) await runFollowers(app, next)
}

function prepareStep(app: App, { order, step, change }: Step) {
  const { status_detail = null, ...rest } = change
  if (rules.classifyReport(order, step) !== 'accept') throw problem('STATUS_NOT_REACHABLE', `The order is already past ${step}.`)
  const at = app.now()
  const newEvent = { id: order.last_event + 1, low_level: step, status_detail, created_at: at }
  const updated = applyChange(
    { ...order, low_level: step, last_event: newEvent.id, last_event_at: at, events: [...order.events, newEvent] },
    { dispatch_at: null, ...collectionChange(order, step, at), ...rest },
    at,
  )
  if (rest.step_at === undefined) updated.step_at = app.orderFlow.labFor(app, updated).nextStepAt(updated, at)
  const event = orderEvent(app, updated, 'labtest.order.updated', at, { partial: step === 'partial_results' })
  return { order, step, updated, event, status_detail }
}

const updateOf = ({ order, updated, event, status_detail }: ReturnType<typeof prepareStep>) => ({
  ...{ row: updated, event, step: { status_detail } },
  hasNewDocument: updated.sealed !== order.sealed,
})

async function runFollowers(app: AppInTransaction, { step, updated }: ReturnType<typeof prepareStep>) {
  let latest = updated
  for (const { afterStep } of app.orderFlow.followers) latest = (await afterStep?.(app, latest, step)) ?? latest
  return latest
}

/** Changes the order without a new step and emits the update. */
export async function changeOrder(app: AppInTransaction, order: LoadedOrder, change: Omit<Change, 'status_detail' | 'sample_id'>) {
  const at = app.now()
  const updated = applyChange(order, change, at)
  const event = orderEvent(app, updated, 'labtest.order.updated', at)
  const update = { row: updated, event, hasNewDocument: updated.sealed !== order.sealed }
  await updateOrders(app.db, order.team_id, [update])
  app.wake('team log', order.team_id)
  return updated
}

function applyChange(order: LoadedOrder, { document, ...change }: Omit<Change, 'status_detail'>, at: string): LoadedOrder {
  const next = { ...order, ...(change as Partial<LoadedOrder>), updated_at: at, document: { ...order.document, ...document } }
  const dated = { ...next, ...resultDates(next) }
  const siblings = order.siblings.map((sibling) =>
    sibling.id === order.id ? { ...sibling, low_level: next.low_level, last_event_at: next.last_event_at, updated_at: at } : sibling,
  )
  return { ...dated, siblings, sealed: document ? encryptDocument(order.key, order.id, next.document) : order.sealed }
}

/** The lab's collected_at wins; otherwise the first step that dates the collection sets it. */
const collectionChange = (order: LoadedOrder, step: string, at: string): Change =>
  !order.collected_at && rules.impliesCollection(order.method, step) ? { collected_at: at } : {}

function resultDates({ collected_at, zone, lab_test }: LoadedOrder) {
  if (!collected_at) return {}
  return dueDatesOf(dayIn(zone, collected_at), lab_test.common_tat_days, lab_test.worst_case_tat_days)
}

type OrderEventName = 'labtest.order.created' | 'labtest.order.updated'
type EventOptions = { data?: ReturnType<typeof presentOrder> | undefined; partial?: boolean }

/** The event with the current state of the order. */
export const orderEvent = (
  app: App,
  order: LoadedOrder,
  event_type: OrderEventName,
  at: string,
  { data, partial = false }: EventOptions = {},
) =>
  eventRow(app, order.key, {
    team_id: order.team_id,
    user_id: order.user_id,
    order_id: order.id,
    client_user_id: order.client_user_id,
    event_type,
    key: `order:${order.id}`,
    data: data ?? presentOrder(app, order),
    at,
    partial,
  })
