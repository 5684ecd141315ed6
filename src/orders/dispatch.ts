import { type App, inTransaction, later } from '../app.ts'
import type { Simulation } from '../contract/orders.ts'
import { labFor } from '../labs/index.ts'
import { advanceOrder } from './advance.ts'
import { type Loaded, lockedOrder } from './show.ts'
import * as store from './store.ts'

const AT_ONCE = 100

export const DISPATCH = 'dispatch orders'

/** Sends to the lab what is due on its team's clock, of one team or of any; answers whether there may be more. */
export async function dispatchDue(app: App, team_id?: string) {
  const due = await store.dueDispatches(app.db, app.wall(), AT_ONCE, team_id)
  await forEach(due, (order) => dispatch(inTeamTime(app, order.clock_offset_ms), order))
  return due.length === AT_ONCE
}

/** An order that fails holds up no other; its failure is told in the end. */
async function forEach<T>(due: T[], work: (one: T) => Promise<unknown>) {
  const failures: unknown[] = []
  for (const one of due) await work(one).catch((error) => failures.push(error))
  if (failures.length) throw failures[0]
}

export const nextDispatch = async (app: App, team_id: string) => (await store.nextDispatch(app.db, team_id))?.at ?? undefined

/** In a journey of the clock, time stands still at the due moment already. */
export const inTeamTime = (app: App, clock_offset_ms: number): App =>
  app.transaction ? app : { ...app, now: () => later(app.wall(), clock_offset_ms) }

const dispatch = (app: App, { id, team_id }: { id: string; team_id: string }) =>
  inTransaction(app, async (app) => {
    const locked = await store.tryLockOrder(app.db, id)
    if (!locked?.dispatch_at || locked.dispatch_at > app.now()) return
    await sendOrder(app, await lockedOrder(app, team_id, id))
  })

/** Hands an order that is locked, or nobody knows of yet, to the lab. */
export async function sendOrder(app: App, order: Loaded): Promise<Loaded> {
  const accepted = labFor(app).send(order)
  const gone = { dispatch_at: null, sent_at: app.now() }
  if (accepted) return advanceOrder(app, order, accepted.low_level, { ...gone, sample_id: order.sample_id ?? accepted.sample_id })
  const sent = { ...order, ...gone, updated_at: gone.sent_at }
  await store.setSent(app.db, order.id, sent.updated_at)
  return sent
}

/** Does the work on every order whose next simulated step is due; answers whether there may be more. */
export async function onDueSteps(app: App, team_id: string | undefined, work: (app: App, order: Loaded) => Promise<unknown>) {
  const due = await store.dueSteps(app.db, app.wall(), AT_ONCE, team_id)
  await forEach(due, ({ id, team_id, clock_offset_ms }) =>
    inTransaction(inTeamTime(app, clock_offset_ms), async (app) => {
      const locked = await store.tryLockOrder(app.db, id)
      if (locked?.step_at && locked.step_at <= app.now()) await work(app, await lockedOrder(app, team_id, id))
    }),
  )
  return due.length === AT_ONCE
}

export const nextDueStep = async (app: App, team_id: string) => (await store.nextStep(app.db, team_id))?.at ?? undefined

/** The steps that an order takes one after the other, the first of them then. */
export const planSteps = (app: App, id: string, step_at: string, simulation: Simulation) =>
  store.setQuietly(app.db, id, { step_at, simulation: JSON.stringify(simulation) })

/** The order stays where it is until somebody moves it. */
export const restOrder = (app: App, id: string) => store.setQuietly(app.db, id, { step_at: null, simulation: null })
