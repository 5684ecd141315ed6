import type { App, AppInTransaction } from '../../platform/app.ts'
import type { LoadedOrder } from './reading/present.ts'

/** What orders call in features above them. `labs/order-flow` lists it, and no service can be made without it. */
export type OrderFlow = {
  /** In the order in which they follow. */
  followers: Follower[]
  labFor(app: App, order: Pick<LoadedOrder, 'lab_test'>): Lab
}

declare module '../../platform/app.ts' {
  interface Service {
    orderFlow: OrderFlow
  }
}

/** What another feature does when orders change, in the transaction of the change. */
export type Follower = {
  /** The order has taken a step. Returns the order if the follower has moved it on. */
  afterStep?(app: AppInTransaction, order: LoadedOrder, step: string): Promise<LoadedOrder | undefined>
  /** The users of the orders are being erased. */
  forgetOrders?(app: AppInTransaction, team_id: string, order_ids: string[]): Promise<unknown>
}

/** The response of a lab: the step if it accepts the order immediately, and the number of the order at the lab. */
type AcceptedOrder = { low_level?: string; sample_id: string | null }

/**
 * The lab behind an order. Progress and results come in through actions: `reportStep` and `recordResults`.
 * The calls run inside the transaction of the change, so an adapter that needs the network queues the work in its own table
 * and does it in a job.
 */
export type Lab = {
  /** Sends the order, or a registered kit; without a step if the lab accepts it later. */
  send(app: App, order: LoadedOrder): Promise<AcceptedOrder | undefined>
  /** Whether the order is canceled, or the lab was asked and answers later. */
  cancel(app: AppInTransaction, order: LoadedOrder): Promise<'cancelled' | 'requested'>
  /** When the lab advances the order without a report. */
  nextStepAt(order: LoadedOrder, now: string): string | null
}
