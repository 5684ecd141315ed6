import { randomBytes } from 'node:crypto'
import { later } from '../../../platform/time.ts'
import type { LoadedOrder } from '../../orders/reading/present.ts'
import { nextStep } from '../../orders/rules.ts'
import type { Lab } from '../index.ts'
import { stepDelay } from './delays.ts'

/** The sandbox's lab: takes every order at once. What it does next is asked for, or left to its clock. */
export const simulator: Lab = {
  send: async (_, order) => ({
    low_level: order.registrable ? 'awaiting_registration' : 'requisition_created',
    sample_id: newSampleId(),
  }),
  cancel: async () => {},
  nextAt: (order, now) => {
    const low = nextStep(order)
    return low && !isCustomerStep(low) ? later(now, delayTo(order, low)) : null
  },
}

const delayTo = ({ method, low_level, seed, lab_test }: LoadedOrder, to: string) =>
  stepDelay({ method, from: low_level, to, seed, common_tat_days: lab_test.common_tat_days })

/** Registering a kit is for the customer to do. */
const isCustomerStep = (low: string) => low === 'registered'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Sixty bits that nobody can foretell, in letters and digits that nobody mistakes for each other. */
export const newSampleId = () => Array.from(randomBytes(12), (byte) => digits[byte & 31]).join('')
