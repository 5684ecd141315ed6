import type { App } from '../../platform/app.ts'
import { type PatientPart, processMessages } from '../hl7/inbox/process.ts'
import { hasObservations } from '../matching/rules-groups.ts'
import { fileReport } from './actions.ts'
import { applyStatuses } from './status.ts'

/** Files what labs have sent: on orders, or in the queues of unmatched results. */
export const fileLabMessages = (app: App) => processMessages(app, filePatient)

/** A status of the order, results, or both. */
async function filePatient(app: App, { lab_id, link, control_id, report, message }: PatientPart) {
  const statuses = await applyStatuses(app, { id: lab_id }, link, message, report)
  if (statuses.length && !hasObservations(report.groups)) {
    const moved = statuses.filter((applied) => typeof applied === 'object')
    const isQueued = statuses.includes('left to a person')
    return { kind: 'status' as const, orders: moved, isMatched: moved.length === statuses.length, isQueued }
  }
  const { orders, unmatched } = await fileReport(app, { id: lab_id, profile: link.profile }, report, control_id)
  return { kind: 'result' as const, orders, isMatched: unmatched.length === 0, isQueued: unmatched.length > 0 }
}
