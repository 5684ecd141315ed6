import type { App } from '../../platform/app.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { simulator } from './simulator/index.ts'

/** The response of a lab that accepts an order immediately. */
type AcceptedOrder = { low_level: string; sample_id: string | null }

/**
 * The lab behind an order. Progress and results come in through actions: `reportStep` and `recordResults`.
 * The calls run inside the transaction of the change, so an adapter that needs the network queues the work in its own table
 * and does it in a job.
 */
export type Lab = {
  /** Sends the order; undefined if the lab accepts it later. */
  send(app: App, order: LoadedOrder): Promise<AcceptedOrder | undefined>
  cancel(app: App, order: LoadedOrder): Promise<void>
  /** When the lab advances the order without a report. */
  nextStepAt(order: LoadedOrder, now: string): string | null
}

/** A partner lab reads its orders and reports through the partner lab API. A kit without a patient awaits registration immediately. */
const partnerLab: Lab = {
  send: async (_, order) => (order.registrable ? { low_level: 'awaiting_registration', sample_id: null } : undefined),
  cancel: async () => {},
  nextStepAt: () => null,
}

/** Adapters by the lab's `interface` in the catalog; a lab without an adapter uses the partner lab API. */
const adapters: Record<string, Lab> = {}

export const labFor = ({ config }: App, { lab_test }: Pick<LoadedOrder, 'lab_test'>): Lab =>
  config.ENVIRONMENT === 'sandbox' ? simulator : (adapters[lab_test.lab.interface] ?? partnerLab)
