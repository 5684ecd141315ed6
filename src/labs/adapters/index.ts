import type { App } from '../../platform/app.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { simulator } from './simulator/index.ts'

/** What a lab answers to an order that it takes at once. */
export type AcceptedOrder = { low_level: string; sample_id: string | null }

/**
 * The lab behind an order. Progress and results come in through actions: `reportStep` and `recordResults`.
 * The calls are made inside the transaction of the change: an adapter that needs the network puts the work into a table of its own
 * and does it in a job.
 */
export type Lab = {
  /** Takes the order; undefined when the lab answers later. */
  send(app: App, order: LoadedOrder): Promise<AcceptedOrder | undefined>
  cancel(app: App, order: LoadedOrder): Promise<void>
  /** When the lab moves the order by itself. */
  nextAt(order: LoadedOrder, now: string): string | null
}

/** A partner lab sees its orders through the lab-side API and answers there, in its own time; that a kit awaits its patient we know ourselves. */
const partnerLab: Lab = {
  send: async (_, order) => (order.registrable ? { low_level: 'awaiting_registration', sample_id: null } : undefined),
  cancel: async () => {},
  nextAt: () => null,
}

/** Adapters by the interface that the catalogue names for a lab; a lab whose interface has none is a partner at the lab-side API. */
export const adapters: Record<string, Lab> = {}

export const labFor = ({ config }: App, { lab_test }: Pick<LoadedOrder, 'lab_test'>): Lab =>
  config.ENVIRONMENT === 'sandbox' ? simulator : (adapters[lab_test.lab.interface] ?? partnerLab)
