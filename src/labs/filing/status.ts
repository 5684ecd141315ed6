import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../platform/app.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import type { Message } from '../hl7/codec/rules-message.ts'
import type { Link } from '../hl7/links/connections.ts'
import type { PatientResults, ResultGroup } from '../hl7/messages/rules-results.ts'
import type { Profile } from '../hl7/profiles/rules-profile.ts'
import { numberGroups } from '../matching/order-numbers.ts'
import { numbersOf, stateOf } from '../matching/rules-match.ts'
import { advanceOrder, changeOrder } from '../orders/progress/advance.ts'
import { offerRedraw } from '../orders/progress/redraw.ts'
import { heldWarning, refusedWarning, unconfirmedWarning, withLabWarning, withUnconfirmed } from '../orders/progress/rules-lab-warnings.ts'
import { type LoadedOrder, lockOrder } from '../orders/reading/present.ts'
import { canFollow, canReach, mayRedraw } from '../orders/rules.ts'
import { findFilled, findNumberedOrder, keepFillers, type NumberedOrder } from '../orders/samples.ts'
import { doubtAbout, isIdentified, type KnownOrder, type OrderStatus } from './rules-doubts.ts'
import { type StatusReport, statusIn, stepInProcess } from './rules-status.ts'

type OrderRef = { team_id: string; order_id: string }

/** The order that a status moved, or whether a person has to decide. Undefined for a status of no known order, or of one that has ended. */
type Applied = OrderRef | 'left to a person' | undefined

/** Moves the orders that a lab reports a status of. */
export async function applyStatuses(
  app: App,
  lab: { id: number },
  { profile }: Link,
  message: Message,
  report: PatientResults,
): Promise<Applied[]> {
  const groups = await numberGroups(app, lab.id, report.groups)
  const applied: Applied[] = []
  for (const [number, named] of Map.groupBy(groups, ({ order_number }) => order_number && numbersOf(order_number, profile).at(-1))) {
    const status = statusIn({ groups: named })
    if (!status) continue
    const found = number ? await findNumberedOrder(app, lab.id, numbersOf(named[0]?.order_number ?? number, profile)) : undefined
    applied.push(found && (await applyStatus(app, found, report, { status, groups: named, message }, profile)))
  }
  return applied
}

async function applyStatus(app: App, found: NumberedOrder, report: PatientResults, named: OrderStatus, profile: Profile): Promise<Applied> {
  // The transaction would read it each time.
  await teamSealingKey(app, found.team_id)
  return inTransaction(onTeamClock(app, found), async (app) => {
    const order = await lockOrder(app, found.team_id, found.id)
    const doubt = doubtAbout(named, report, await knownOrder(app, order, named.groups), profile)
    if (doubt) return leaveToPerson(app, order, named.status, doubt)
    if (isIdentified(report.patient, order, profile)) await keepFillers(app, order, fillersOf(named.groups))
    await take(app, order, named.status)
    return { team_id: order.team_id, order_id: order.id }
  })
}

async function knownOrder(app: AppInTransaction, order: LoadedOrder, groups: ResultGroup[]): Promise<KnownOrder> {
  const { lab_id, sample_id, user_id, document, lab_test } = order
  let isFillerKnown = false
  for (const filler of new Set(fillersOf(groups))) isFillerKnown ||= (await findFilled(app, lab_id, filler)).includes(sample_id ?? '')
  return {
    ...{ number: sample_id ?? '', user_id, patient: document.patient_details, isFillerKnown, tests: lab_test.markers.length },
    account: await loadAccountNumber(app, order.lab_account_id),
  }
}

const fillersOf = (groups: ResultGroup[]) => groups.map(({ filler_number }) => filler_number)

/** A warning, once, on an order that the status could still change. */
async function leaveToPerson(app: AppInTransaction, order: LoadedOrder, { type }: StatusReport, doubt: string): Promise<Applied> {
  const { warnings } = order.document
  const warning = unconfirmedWarning(type, doubt)
  if (['completed', 'ended'].includes(stateOf(order))) return undefined
  if (!warnings.some(({ message }) => message === warning.message))
    await changeOrder(app, order, { document: { warnings: withUnconfirmed(warnings, warning) } })
  return 'left to a person'
}

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
  // The lab reports what it does with the specimen, not when it was collected.
  const change = { collected_at: order.collected_at, document: { warnings: withLabWarning(order.document.warnings) } }
  if (step && may(order, step)) await advanceOrder(app, order, step, change)
}

async function rejectSpecimen(
  app: AppInTransaction,
  order: LoadedOrder,
  { status_detail }: Extract<StatusReport, { type: 'rejected_specimen' }>,
) {
  if (canFollow(order, 'redraw_available') && mayRedraw(order)) await offerRedraw(app, order, { status_detail })
  else if (canReach(order, 'sample_error')) await advanceOrder(app, order, 'sample_error', { status_detail })
}
