import type { Lab } from '../../orders/flow.ts'
import { awaitsPatient } from '../../orders/rules.ts'

/** A partner lab reads its orders and reports through the partner lab API. A kit without a patient awaits registration immediately. */
export const partnerLab: Lab = {
  send: async (_, order) => (awaitsPatient(order) ? { low_level: 'awaiting_registration', sample_id: null } : undefined),
  cancel: async () => 'cancelled',
  nextStepAt: () => null,
}
