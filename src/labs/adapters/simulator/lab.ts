import { later } from '../../../platform/time.ts'
import { isActive } from '../../appointments/rules.ts'
import type { Lab } from '../../orders/flow.ts'
import type { LoadedOrder } from '../../orders/reading/present.ts'
import { awaitsPatient, nextStep } from '../../orders/rules.ts'
import { newSampleId } from '../../orders/sample-ids.ts'
import { stepDelay } from './delays.ts'

/** The sandbox lab accepts every order immediately. Later steps are requested or follow the clock. */
export const simulator: Lab = {
  send: async (_, order) => ({
    low_level: awaitsPatient(order) ? 'awaiting_registration' : 'requisition_created',
    sample_id: newSampleId(),
  }),
  cancel: async () => 'cancelled',
  nextStepAt: (order, now) => {
    const step = nextStep(order)
    if (!step || isCustomerStep(step) || (step === 'draw_completed' && visitEnd(order))) return null
    const from = visitEnd(order) ?? now
    return later(from > now ? from : now, delayTo(order, step))
  },
}

/** The end of a booked visit. The visit itself completes a draw at home. */
const visitEnd = ({ appointment }: LoadedOrder) => (appointment && isActive(appointment) ? appointment.end_at : null)

const delayTo = ({ method, low_level, seed, lab_test }: LoadedOrder, to: string) =>
  stepDelay({ method, from: low_level, to, seed, common_tat_days: lab_test.common_tat_days })

/** The customer registers a kit, not the lab. */
const isCustomerStep = (step: string) => step === 'registered'
