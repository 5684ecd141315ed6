import { HOUR, later, MINUTE, SECOND } from '../../../platform/time.ts'
import { heldWarning, refusedWarning } from '../../orders/progress/rules-lab-warnings.ts'
import { type ReceivedAcknowledgment, refusals } from '../messages/rules-acknowledgment.ts'
import type { Profile } from '../profiles/rules-profile.ts'

/** Wait before attempt 2, 3, 4… The last one repeats: a message is sent until the lab answers. */
const waits = [SECOND / 2, 2 * SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]

export const waitAfter = (attempts: number) => waits[Math.min(Math.max(attempts, 1), waits.length) - 1] as number

export const nextAttemptAt = (attempts: number, now: string) => later(now, waitAfter(attempts))

/** The last digits of the orders that a connection to a lab serves. An order has one connection, so its messages stay in order. */
export const digitsOf = (connection: number, connections: number) =>
  Array.from('0123456789abcdef').filter((digit) => connectionOf(digit, connections) === connection)

export const connectionOf = (digit: string, connections: number) => Number.parseInt(digit, 16) % connections

export type Answered = 'accepted' | 'stored' | 'rejected'

/** What an answer means for the message. After a commit acknowledgment, the lab can still reject the content. */
export function outcomeOf({ message }: Profile, { code, order_control }: Pick<ReceivedAcknowledgment, 'code' | 'order_control'>): Answered {
  if (code === 'CA') return ['AL', 'SU'].includes(message.application_acknowledgment ?? '') ? 'stored' : 'accepted'
  return code === 'AA' && !refusals.includes(order_control ?? '') ? 'accepted' : 'rejected'
}

type Sent = { kind: string; state: string; attempts: number }

/** What canceling needs: nothing at the lab, waiting for an answer to an earlier request, or a message. */
export function cancellationOf(messages: Sent[]): 'not_at_lab' | 'requested' | 'request' {
  const isOpen = ({ state }: Sent) => state === 'pending' || state === 'stored'
  if (messages.some((message) => message.kind === 'cancel' && isOpen(message))) return 'requested'
  const orders = messages.filter(({ kind }) => kind === 'order')
  const mayBeAtLab = ({ state, attempts }: Sent) => state === 'accepted' || state === 'stored' || (state === 'pending' && attempts > 0)
  return orders.some(mayBeAtLab) ? 'request' : 'not_at_lab'
}

type Rejection = Pick<ReceivedAcknowledgment, 'code' | 'order_control' | 'error_codes'>

const codesOf = ({ code, order_control, error_codes }: Rejection) =>
  [code, ...(order_control ? [`ORC-1 ${order_control}`] : []), ...error_codes.map((error) => `error ${error}`)].join(', ')

/** The lab's own text can name the patient, so only its codes appear. */
export const rejectedWarning = (rejection: Rejection) => heldWarning(codesOf(rejection))

export const cancelRefusedWarning = (refusal: Rejection) => refusedWarning(codesOf(refusal))
