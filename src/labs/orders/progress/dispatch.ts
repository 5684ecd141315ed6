import type { Simulation } from '../../../contract/labs/orders.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import type { Db } from '../../../platform/db/open.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { later, MINUTE, SECOND } from '../../../platform/time.ts'
import { labFor } from '../../adapters/index.ts'
import { type LoadedOrder, requireOrder } from '../reading/present.ts'
import * as store from '../store.ts'
import { advanceOrder } from './advance.ts'
import * as dueStore from './store-due.ts'

export { searchDispatches, searchSteps } from './store-due.ts'

const BATCH_SIZE = 100

export const DISPATCH_ORDERS = 'dispatch orders'

/** Sends the orders that are due on their team's clock; returns whether there may be more. */
export async function dispatchDueOrders(app: App, team_id?: string) {
  const due = await dueStore.listDueDispatches(app.db, app.wall(), { limit: BATCH_SIZE, team_id, except: postponedIds(app) })
  await forEachOrder(app, due, (order) => dispatch(onOrderClock(app, order.clock_offset_ms), order))
  return due.length === BATCH_SIZE
}

const POSTPONE_MS = MINUTE
/** Orders whose step failed, by ID, with the time of their next attempt. */
const postponed = declareCache(() => new Map<string, string>())

/** The orders to skip for now. A clock move skips none: a skipped order stays due, and the move would never get past it. */
const postponedIds = (app: App) => (app.transaction ? [] : [...postponed(app)].filter(([, until]) => until > app.wall()).map(([id]) => id))

/** Orders that one process works on at the same time. Most of the work is waiting for the database. */
const ORDERS_AT_ONCE = 4

/** An order that fails does not block the others: it is postponed, and the first error is thrown at the end. */
async function forEachOrder<T extends { id: string }>(app: App, due: T[], work: (order: T) => Promise<unknown>) {
  let isDatabaseLost = false
  // A clock move is one transaction, so it takes one order after another.
  await inParallel(due, app.transaction ? 1 : ORDERS_AT_ONCE, async (order) => {
    if (isDatabaseLost) return
    try {
      await work(order)
      postponed(app).delete(order.id)
    } catch (error) {
      // The database is unavailable, so the whole run is retried.
      isDatabaseLost ||= isDatabaseUnavailable(error)
      if (!isDatabaseLost && !app.transaction) postponed(app).set(order.id, later(app.wall(), POSTPONE_MS))
      throw error
    }
  })
}

/** The backlog is counted up to this number. */
const MAX_COUNTED_DUE = 10_000

/** How many orders of any team are due to be sent to the lab, and for how long the oldest has been. */
export async function dispatchBacklog(db: Db, wall: string) {
  const { due, oldest_at } = await dueStore.findDispatchBacklog(db, wall, MAX_COUNTED_DUE)
  const waitedMs = oldest_at ? Math.max(0, Date.parse(wall) - Date.parse(oldest_at)) : 0
  return { due, oldest_seconds: Math.round(waitedMs / SECOND) }
}

export const findNextDispatch = async (app: App, team_id: string) => (await dueStore.findNextDispatch(app.db, team_id))?.at ?? undefined

/** While a team's clock advances, the app's clock already shows the due time. */
const onOrderClock = (app: App, clock_offset_ms: number): App => (app.transaction ? app : onTeamClock(app, { clock_offset_ms }))

/**
 * Locks an order and runs the work on it if it is still due. Skips an order that another process holds.
 * While a team's clock advances, which is already a transaction, it waits for the lock instead.
 */
async function withDueOrder(
  app: App,
  { id, team_id }: DueOrder,
  due: 'dispatch_at' | 'step_at',
  work: (app: AppInTransaction, order: LoadedOrder) => Promise<unknown>,
) {
  const lock = app.transaction ? store.lockOrders : store.lockFreeOrders
  // The transaction would read it each time.
  await teamSealingKey(app, team_id)
  return inTransaction(app, async (app) => {
    const [locked] = await lock(app.db, team_id, [id])
    const at = locked?.[due]
    if (at && at <= app.now()) await work(app, await requireOrder(app, team_id, id))
  })
}

type DueOrder = { id: string; team_id: string }

const dispatch = (app: App, due: DueOrder) => withDueOrder(app, due, 'dispatch_at', sendOrder)

/** Sends a locked or new order to the lab. */
export async function sendOrder(app: AppInTransaction, order: LoadedOrder): Promise<LoadedOrder> {
  const accepted = await labFor(app, order).send(app, order)
  const sent_at = app.now()
  if (accepted) return advanceOrder(app, order, accepted.low_level, { sent_at, sample_id: order.sample_id ?? accepted.sample_id })
  const sent = { ...order, dispatch_at: null, sent_at, updated_at: sent_at }
  await store.markSent(app.db, order, sent.updated_at)
  return sent
}

/** Runs the work on every order whose next simulated step is due; returns whether there may be more. */
export async function forEachDueStep(
  app: App,
  team_id: string | undefined,
  work: (app: AppInTransaction, order: LoadedOrder) => Promise<unknown>,
) {
  const due = await dueStore.listDueSteps(app.db, app.wall(), { limit: BATCH_SIZE, team_id, except: postponedIds(app) })
  await forEachOrder(app, due, (order) => withDueOrder(onOrderClock(app, order.clock_offset_ms), order, 'step_at', work))
  return due.length === BATCH_SIZE
}

export const findNextStep = async (app: App, team_id: string) => (await dueStore.findNextStep(app.db, team_id))?.at ?? undefined

/** Plans the steps of an order; the first is due at `step_at`. */
export const planSteps = (app: App, order: DueOrder, step_at: string, simulation: Simulation) =>
  store.setPlannedSteps(app.db, order, { step_at, simulation: JSON.stringify(simulation) })

export const clearPlannedSteps = (app: App, order: DueOrder) => store.setPlannedSteps(app.db, order, { step_at: null, simulation: null })
