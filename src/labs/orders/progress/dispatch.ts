import type { Simulation } from '../../../contract/labs/orders.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import type { Db } from '../../../platform/db/open.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { later, MINUTE, SECOND } from '../../../platform/time.ts'
import { type LoadedOrder, loadOrders, requireOrder } from '../reading/present.ts'
import { orderNotFound } from '../rules.ts'
import { changeSample } from '../samples.ts'
import * as store from '../store.ts'
import { advanceOrder, advanceOrders } from './advance.ts'
import * as dueStore from './store-due.ts'

export { searchDispatches, searchSteps } from './store-due.ts'

const BATCH_SIZE = 128

export const DISPATCH_ORDERS = 'dispatch orders'

/** Sends the orders that are due on their team's clock; returns whether there may be more. */
export async function dispatchDueOrders(app: App, team_id?: string) {
  const due = await dueStore.listDueDispatches(app.db, app.wall(), { limit: BATCH_SIZE, team_id, except: postponedIds(app) })
  await forEachGroup(app, due, 'dispatch_at', sendOrders)
  return due.length === BATCH_SIZE
}

const POSTPONE_MS = MINUTE
/** Orders whose step failed, by ID, with the time of their next attempt. */
const postponed = declareCache(() => new Map<string, string>())

/** The orders to skip for now. A clock move skips none: a skipped order stays due, and the move would never get past it. */
const postponedIds = (app: App) => (app.transaction ? [] : [...postponed(app)].filter(([, until]) => until > app.wall()).map(([id]) => id))

/** Groups of orders that one process works on at the same time. Most of the work is waiting for the database. */
const GROUPS_AT_ONCE = 4
/** Orders of a team that change in one transaction. Someone else who changes one of them waits for the others. */
const GROUP_SIZE = 32

type DueOrder = { id: string; team_id: string }
type DueOnClock = DueOrder & { clock_offset_ms: number }
type DueColumn = 'dispatch_at' | 'step_at'
type Work = (app: AppInTransaction, order: LoadedOrder) => Promise<unknown>
/** Work on several orders of a team that belong to different transactions. */
type GroupWork = (app: AppInTransaction, orders: LoadedOrder[]) => Promise<unknown>

/** An order that fails does not block the others: it is postponed, and the first error is thrown at the end. */
async function forEachGroup(app: App, due: DueOnClock[], column: DueColumn, work: GroupWork) {
  let isDatabaseLost = false
  const tryGroup = async (group: DueOnClock[]): Promise<void> => {
    if (isDatabaseLost) return
    try {
      await withDueOrders(app, group, column, work)
      for (const { id } of group) postponed(app).delete(id)
    } catch (error) {
      // The database is unavailable, so the whole run is retried.
      isDatabaseLost ||= isDatabaseUnavailable(error)
      // None of the group has changed, so each runs on its own, and only those that fail are postponed.
      if (!isDatabaseLost && group.length > 1) return inParallel(group, 1, (order) => tryGroup([order]))
      if (!isDatabaseLost && !app.transaction) for (const { id } of group) postponed(app).set(id, later(app.wall(), POSTPONE_MS))
      throw error
    }
  }
  // A clock move is one transaction, so it takes one order after another.
  if (app.transaction) return inParallel(due, 1, (order) => tryGroup([order]))
  return inParallel(groupsOf(due), GROUPS_AT_ONCE, tryGroup)
}

/** Splits orders into groups of one team. */
const groupsOf = (due: DueOnClock[]) =>
  [...Map.groupBy(due, ({ team_id }) => team_id).values()].flatMap((ofTeam) =>
    Array.from({ length: Math.ceil(ofTeam.length / GROUP_SIZE) }, (_, i) => ofTeam.slice(i * GROUP_SIZE, (i + 1) * GROUP_SIZE)),
  )

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
 * Locks orders of a team and runs the work on those that are still due, in one transaction. Skips orders that another process
 * holds. While a team's clock advances, which is already a transaction, it waits for the lock instead.
 */
async function withDueOrders(app: App, due: DueOnClock[], column: DueColumn, work: GroupWork) {
  const [{ team_id, clock_offset_ms }] = due as [DueOnClock]
  const lock = app.transaction ? store.lockOrders : store.lockFreeOrders
  // The transaction would read it each time.
  await teamSealingKey(app, team_id)
  return inTransaction(onOrderClock(app, clock_offset_ms), async (app) => {
    const ids = due.map(({ id }) => id)
    const locked = await lock(app.db, team_id, ids)
    const now = app.now()
    const stillDue = new Set(locked.filter(({ [column]: at }) => at && at <= now).map(({ id }) => id))
    const orders = await loadOrders(
      app,
      team_id,
      ids.filter((id) => stillDue.has(id)),
    )
    if (orders.length < stillDue.size) throw orderNotFound()
    if (!orders.length) return
    const byTransaction = Map.groupBy(orders, ({ transaction_id }) => transaction_id)
    const firsts = [...byTransaction.values()].map(([first]) => first as LoadedOrder)
    await work(app, firsts)
    // Orders of one transaction show each other's status.
    for (const { id } of orders.filter((order) => !firsts.includes(order))) await work(app, [await requireOrder(app, team_id, id)])
  })
}

/** Sends locked orders of a team to their labs. */
async function sendOrders(app: AppInTransaction, orders: LoadedOrder[]) {
  const [first, ...others] = orders as [LoadedOrder, ...LoadedOrder[]]
  if (!others.length) return sendOrder(app, first)
  const steps = []
  for (const order of orders) {
    const { low_level, ...change } = await sendToLab(app, order)
    if (low_level) steps.push({ order, step: low_level, change })
    else await markSent(app, order, change)
  }
  if (steps.length) await advanceOrders(app, first.team_id, steps)
}

/** Sends a locked or new order to the lab. */
export async function sendOrder(app: AppInTransaction, order: LoadedOrder): Promise<LoadedOrder> {
  const { low_level, ...change } = await sendToLab(app, order)
  return low_level ? advanceOrder(app, order, low_level, change) : markSent(app, order, change)
}

/** Returns what the lab says at once. */
async function sendToLab(app: AppInTransaction, order: LoadedOrder) {
  const accepted = await app.orderFlow.labFor(app, order).send(app, order)
  return { low_level: accepted?.low_level, sent_at: app.now(), sample_id: order.sample_id ?? accepted?.sample_id ?? null }
}

type Sent = { sent_at: string; sample_id: string | null }

async function markSent(app: AppInTransaction, order: LoadedOrder, { sent_at, sample_id }: Sent): Promise<LoadedOrder> {
  const sent = { ...order, dispatch_at: null, sent_at, updated_at: sent_at, sample_id }
  await changeSample(app, order, sent)
  await store.markSent(app.db, order, { sent_at, sample_id })
  return sent
}

/** Runs the work on every order whose next simulated step is due; returns whether there may be more. */
export async function forEachDueStep(app: App, team_id: string | undefined, work: Work) {
  const due = await dueStore.listDueSteps(app.db, app.wall(), { limit: BATCH_SIZE, team_id, except: postponedIds(app) })
  await forEachGroup(app, due, 'step_at', async (app, orders) => {
    for (const order of orders) await work(app, order)
  })
  return due.length === BATCH_SIZE
}

export const findNextStep = async (app: App, team_id: string) => (await dueStore.findNextStep(app.db, team_id))?.at ?? undefined

/** Plans the steps of an order; the first is due at `step_at`. */
export const planSteps = (app: App, order: DueOrder, step_at: string, simulation: Simulation) =>
  store.setPlannedSteps(app.db, order, { step_at, simulation: JSON.stringify(simulation) })

export const clearPlannedSteps = (app: App, order: DueOrder) => store.setPlannedSteps(app.db, order, { step_at: null, simulation: null })
