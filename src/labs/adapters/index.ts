import type { App, AppInTransaction } from '../../platform/app.ts'
import { linkTo } from '../hl7/links/connections.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { awaitsPatient } from '../orders/rules.ts'
import { hl7Lab } from './hl7.ts'
import { simulator } from './simulator/index.ts'

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

/** A partner lab reads its orders and reports through the partner lab API. A kit without a patient awaits registration immediately. */
const partnerLab: Lab = {
  send: async (_, order) => (awaitsPatient(order) ? { low_level: 'awaiting_registration', sample_id: null } : undefined),
  cancel: async () => 'cancelled',
  nextStepAt: () => null,
}

/** A lab of LAB_CONNECTIONS is reached by HL7. The sandbox simulates the others; in production they use the partner lab API. */
export function labFor(app: App, { lab_test }: Pick<LoadedOrder, 'lab_test'>): Lab {
  const link = linkTo(app, lab_test.lab.slug)
  if (link) return hl7Lab(link)
  return app.config.ENVIRONMENT === 'sandbox' ? simulator : partnerLab
}
