import type { App } from '../../platform/app.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import { markersOf } from '../matching/rules-groups.ts'
import { foldName, isSamePatient, numbersOf } from '../matching/rules-match.ts'
import { findOrdersByName } from '../orders/reading/by-name.ts'
import { type LoadedOrder, loadOrders } from '../orders/reading/present.ts'
import { findNumberedOrder } from '../orders/samples.ts'
import type { Unmatched } from './queue.ts'
import type { Candidate } from './rules-candidates.ts'
import { scoreOf } from './rules-candidates.ts'

const MAX_SEARCHED = 100
const MAX_CANDIDATES = 10

/** The orders of the team that a result may belong to, the best first: by number, or by the name with birth date or first name. */
export async function findCandidates(app: App, team_id: string, unmatched: Unmatched) {
  const { patient } = unmatched.report
  const byName = patient.last_name ? await findOrdersByName(app, team_id, patient.last_name, MAX_SEARCHED) : []
  const numbered = await findOrderByNumber(app, team_id, unmatched)
  const orders = [...numbered, ...byName.filter(({ id }) => !numbered.some((order) => order.id === id))]
  const compared: { order: LoadedOrder; candidate: Candidate }[] = []
  for (const order of orders) compared.push({ order, candidate: await compare(app, order, unmatched, numbered.includes(order)) })
  return compared
    .filter(({ candidate }) => candidate.is_number || candidate.is_dob || (candidate.is_name && candidate.is_lab))
    .sort((a, b) => scoreOf(b.candidate) - scoreOf(a.candidate))
    .slice(0, MAX_CANDIDATES)
}

async function findOrderByNumber(app: App, team_id: string, { lab, number }: Unmatched): Promise<LoadedOrder[]> {
  const found = number ? await findNumberedOrder(app, lab.id, numbersOf(number, lab.profile)) : undefined
  return found?.team_id === team_id ? loadOrders(app, team_id, [found.id]) : []
}

async function compare(app: App, order: LoadedOrder, { lab, report, received }: Unmatched, is_number: boolean): Promise<Candidate> {
  const patient = order.document.patient_details
  const { markers } = order.lab_test
  const account = await loadAccountNumber(app, order.lab_account_id)
  return {
    order_id: order.id,
    is_number,
    is_account: report.account !== null && account === report.account,
    is_lab: order.lab_id === lab.id,
    is_patient: isSamePatient(report.patient, patient, lab.profile),
    is_name:
      foldName(report.patient.last_name) === foldName(patient?.last_name ?? '') &&
      foldName(report.patient.first_name) === foldName(patient?.first_name ?? ''),
    is_dob: patient !== null && report.patient.dob === patient.dob.slice(0, 10),
    overlap: {
      matched: new Set(received.groups.flatMap((group) => markersOf(group, markers))).size,
      ordered: markers.length,
      reported: received.groups.length,
    },
  }
}
