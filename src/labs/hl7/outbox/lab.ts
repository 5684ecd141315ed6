import type { Lab } from '../../orders/flow.ts'
import { awaitsPatient } from '../../orders/rules.ts'
import { newSampleId } from '../../orders/sample-ids.ts'
import type { Link } from '../links/connections.ts'
import { queueCancellation, queueOrder } from './queue.ts'

/** A lab that speaks HL7. Messages are rows that a job sends, and the lab accepts or rejects the order in its answer. */
export const hl7Lab = (link: Link): Lab => ({
  async send(app, order) {
    if (awaitsPatient(order)) return { low_level: 'awaiting_registration', sample_id: newSampleId() }
    // The lab has the order that this one recreates.
    if (order.origin === 'recreation') return undefined
    return { sample_id: await queueOrder(app, link, order) }
  },
  cancel: (app, order) => queueCancellation(app, link, order),
  nextStepAt: () => null,
})
