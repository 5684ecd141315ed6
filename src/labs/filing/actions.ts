import { type App, inTransaction, onTeamClock } from '../../platform/app.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import type { PatientResults } from '../hl7/messages/rules-results.ts'
import { numberGroups } from '../matching/order-numbers.ts'
import { recordOn } from '../matching/record.ts'
import { hasResults } from '../matching/rules-groups.ts'
import { type ConnectedLab, isSamePatient, numbersOf, stateOf } from '../matching/rules-match.ts'
import type { OrderResults } from '../matching/rules-report.ts'
import { type LoadedOrder, lockOrders } from '../orders/reading/present.ts'
import { findNumberedOrder, type NumberedOrder } from '../orders/samples.ts'
import { type Queued, queueForTeam, queueUnmatched, type Unmatched } from '../unmatched/queue.ts'

export type Filed = {
  /** The orders that the report belongs to. `changed` is false for a repeated report, or one that says nothing about results. */
  orders: { team_id: string; order_id: string; changed: boolean }[]
  /** Parts of the report in a queue for review; `team_id` is null in the queue of the operator. */
  unmatched: Queued[]
}

/**
 * Files the results of one patient. They are stored on an order only if its number, the lab account and the patient agree;
 * otherwise a person decides. Filing the same report again changes nothing. Each order is a transaction, unless one is open.
 */
export async function fileReport(app: App, lab: ConnectedLab, report: PatientResults, message_ref: string): Promise<Filed> {
  const filed: Filed = { orders: [], unmatched: [] }
  for (const part of await partsOf(app, lab, report)) {
    const unmatched = { lab, report, received: part.received, number: part.number, message_ref }
    const stored = part.order && (await fileOnOrder(app, part.order, unmatched))
    if (stored) filed.orders.push(stored)
    else if (hasResults(part.received.groups)) filed.unmatched.push(await queueUnmatched(app, unmatched))
  }
  return filed
}

type Part = { number: string | null; order: NumberedOrder | undefined; received: OrderResults }

/** The results by order. Tests of one order can have numbers of their own. */
async function partsOf(app: App, { id, profile }: ConnectedLab, { groups, notes }: PatientResults): Promise<Part[]> {
  const parts = new Map<string, Part>()
  const found = new Map<string, NumberedOrder | undefined>()
  for (const group of await numberGroups(app, id, groups)) {
    const number = group.order_number
    if (number && !found.has(number)) found.set(number, await findNumberedOrder(app, id, numbersOf(number, profile)))
    const order = number ? found.get(number) : undefined
    const key = order?.id ?? (number && numbersOf(number, profile).at(-1)) ?? ''
    const part = parts.get(key) ?? { number, order, received: { notes, groups: [] } }
    part.received.groups.push(group)
    parts.set(key, part)
  }
  return [...parts.values()]
}

type Filing = Unmatched & { report: PatientResults }

/** Undefined if the account or the patient differs, or the order cannot have results. A person reviews tests that may be the ordered ones. */
async function fileOnOrder(app: App, ref: NumberedOrder, filing: Filing) {
  // The transaction would read it each time.
  await teamSealingKey(app, ref.team_id)
  return inTransaction(onTeamClock(app, ref), async (app) => {
    const [order] = await lockOrders(app, ref.team_id, [ref.id])
    if (!order || !(await agrees(app, filing.lab, filing.report, order))) return undefined
    const { order: updated, hasUnknownTests } = await recordOn(app, order, filing.received)
    if (hasUnknownTests) await queueForTeam(app, order.team_id, filing, order)
    return { team_id: order.team_id, order_id: order.id, changed: updated.result_version !== order.result_version }
  })
}

async function agrees(app: App, { profile }: ConnectedLab, { account, patient }: PatientResults, order: LoadedOrder) {
  const expected = await loadAccountNumber(app, order.lab_account_id)
  const isSameAccount = account !== null && account === expected
  return isSameAccount && isSamePatient(patient, order.document.patient_details, profile) && ['open', 'completed'].includes(stateOf(order))
}
