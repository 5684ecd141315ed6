import { isPdf } from '../../../contract/labs/result-documents.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../../platform/app.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { loadMeasurements } from '../../catalog/actions.ts'
import { loadAccountNumber } from '../../catalog/markers.ts'
import { type LoadedOrder, lockOrders } from '../../orders/reading/present.ts'
import { findNumberedOrder, keepFillers, type NumberedOrder } from '../../orders/samples.ts'
import { loadLatestReport, recordReport } from '../../results/actions.ts'
import { type Queued, queueForTeam, queueUnmatched, type Unmatched } from '../../unmatched/queue.ts'
import type { PatientResults } from '../messages/rules-results.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { numberGroups } from './order-numbers.ts'
import { hasResults, isComment } from './rules-groups.ts'
import { isSamePatient, numbersOf, stateOf } from './rules-match.ts'
import { fingerprintOf, type OrderResults, reportOf } from './rules-report.ts'

/** A lab of the catalog, and how it writes HL7. */
export type ConnectedLab = { id: number; profile: Profile }

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

/** Stores results on an order that agrees, or that a person chose. Late results store nothing. */
export async function recordOn(app: AppInTransaction, order: LoadedOrder, received: OrderResults, isDone = false) {
  await keepFillers(
    app,
    order,
    received.groups.map(({ filler_number }) => filler_number),
  )
  const { unknown_tests, finishes, ...report } = await newReport(app, order, received, isDone)
  const comments = received.groups.filter(isComment)
  const contents = [report.results, report.missing_results, report.removed, report.documents, comments]
  const isNews = finishes || contents.some((list) => list.length)
  return { order: isNews ? await recordReport(app, order, report) : order, hasUnknownTests: unknown_tests.length > 0 }
}

async function newReport(app: App, order: LoadedOrder, received: OrderResults, isDone: boolean) {
  const isComplete = stateOf(order) === 'completed'
  const context = {
    ordered: await loadMeasurements(app, order.lab_test),
    isComplete,
    isDone,
    previous: await loadLatestReport(app, order),
  }
  // A number asked for as a PDF names a PDF, whatever else the report came with.
  const documents = received.groups
    .flatMap(({ documents }) => documents.map(({ bytes }) => bytes))
    .sort((one, other) => Number(isPdf(other)) - Number(isPdf(one)))
  const fingerprint = fingerprintOf(received)
  // The report that a person completes the order with is not a repeat of the one before.
  return { ...reportOf(received, context), documents, received: isDone && !isComplete ? { ...fingerprint, isDone } : fingerprint }
}
