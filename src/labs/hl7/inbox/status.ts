import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../../platform/app.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { advanceOrder, changeOrder } from '../../orders/progress/advance.ts'
import { offerRedraw } from '../../orders/progress/redraw.ts'
import { type LoadedOrder, lockOrder } from '../../orders/reading/present.ts'
import { canFollow, canReach, mayRedraw } from '../../orders/rules.ts'
import { findNumberedOrder } from '../../orders/samples.ts'
import { isSamePatient, numbersOf, withNumbers } from '../filing/rules-match.ts'
import type { Link } from '../links/connections.ts'
import type { PatientResults, ReportedPatient } from '../messages/rules-results.ts'
import { heldWarning, refusedWarning, withLabWarning } from '../outbox/rules.ts'
import { type StatusReport, stepInProcess } from './rules-status.ts'

type OrderRef = { team_id: string; order_id: string }

/** Moves the order that a lab reports a status of. Undefined if no order has its number, or the patient is another. */
export async function applyStatus(
  app: App,
  lab: { id: number },
  { profile }: Link,
  report: PatientResults,
  status: StatusReport,
): Promise<OrderRef | undefined> {
  const number = withNumbers(report.groups).find(({ order_number }) => order_number)?.order_number
  const found = number ? await findNumberedOrder(app, lab.id, numbersOf(number, profile)) : undefined
  if (!found) return undefined
  // The transaction would read it each time.
  await teamSealingKey(app, found.team_id)
  return inTransaction(onTeamClock(app, found), async (app) => {
    const order = await lockOrder(app, found.team_id, found.id)
    if (hasPatient(report.patient) && !isSamePatient(report.patient, order.document.patient_details, profile)) return undefined
    await take(app, order, status)
    return { team_id: order.team_id, order_id: order.id }
  })
}

/** A status message can leave out the patient. */
const hasPatient = ({ first_name, last_name, dob }: ReportedPatient) => Boolean(first_name || last_name || dob)

/** A late or repeated status changes nothing. */
function take(app: AppInTransaction, order: LoadedOrder, status: StatusReport): Promise<unknown> {
  if (status.type === 'accepted') return advanceIf(app, order, 'requisition_created', canFollow)
  if (status.type === 'in_process') return advanceIf(app, order, stepInProcess[order.method], canReach)
  if (status.type === 'cancelled') return advanceIf(app, order, 'cancelled', canFollow)
  if (status.type === 'rejected_specimen') return rejectSpecimen(app, order, status)
  const warning = status.type === 'held' ? heldWarning(status.code) : refusedWarning(status.code)
  return changeOrder(app, order, { document: { warnings: withLabWarning(order.document.warnings, warning) } })
}

async function advanceIf(app: AppInTransaction, order: LoadedOrder, step: string | null, may: typeof canFollow) {
  if (step && may(order, step)) await advanceOrder(app, order, step, { document: { warnings: withLabWarning(order.document.warnings) } })
}

async function rejectSpecimen(
  app: AppInTransaction,
  order: LoadedOrder,
  { status_detail }: Extract<StatusReport, { type: 'rejected_specimen' }>,
) {
  if (canFollow(order, 'redraw_available') && mayRedraw(order)) await offerRedraw(app, order, { status_detail })
  else if (canReach(order, 'sample_error')) await advanceOrder(app, order, 'sample_error', { status_detail })
}
