import type { App } from '../app.ts'
import type { Loaded } from '../orders/show.ts'
import { simulator } from './simulator/index.ts'

/** What a lab answers to an order that it takes at once. */
export type Accepted = { low_level: string; sample_id: string | null }

/**
 * The lab behind an order. Progress and results come in through actions: `reportStep` and `recordResults`.
 * The calls are made inside a transaction, so an adapter that needs the network puts the work into a table of its own.
 */
export type Lab = {
  /** Takes the order; undefined when the lab answers later. */
  send(order: Loaded): Accepted | undefined
  cancel(order: Loaded): void
  /** When the lab moves the order by itself. */
  nextAt(order: Loaded, now: string): string | null
}

/** A partner lab sees its orders through the lab-side API and answers there, in its own time; that a kit awaits its patient we know ourselves. */
const partner: Lab = {
  send: (order) => (order.registrable ? { low_level: 'awaiting_registration', sample_id: null } : undefined),
  cancel: () => {},
  nextAt: () => null,
}

export const labFor = ({ config }: App): Lab => (config.ENVIRONMENT === 'sandbox' ? simulator : partner)
