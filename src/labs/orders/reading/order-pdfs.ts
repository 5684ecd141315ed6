import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { describeCodes } from '../../../tenants/insurance/actions.ts'
import { loadInsurance } from '../../../tenants/users/records.ts'
import * as catalog from '../../catalog/actions.ts'
import { loadAccountNumber } from '../../catalog/markers.ts'
import { termsOf } from '../../catalog/rules.ts'
import { draw } from '../../documents/draw.ts'
import type { Documents } from '../../documents/thread.ts'
import { dayIn } from '../../geography/rules-zones.ts'
import { isSupported } from '../checks/rules-billing.ts'
import { allDiagnoses, billedDiagnoses, diagnosesOf } from '../checks/rules-diagnoses.ts'
import { hasRequisition, type LoadedOrder, requireOrder } from './present.ts'

const notAvailable = (message: string) => problem('DOCUMENT_NOT_AVAILABLE', message)

export async function requisitionPdf(app: App, { team_id }: TeamCaller, order_id: string) {
  const order = await requireOrder(app, team_id, order_id)
  if (!hasRequisition(order))
    throw notAvailable('The order has no requisition. Orders that reach requisition_created have one; imported orders do not.')
  const { document, lab_test } = order
  return drawForPatient(app, order, 'requisition', {
    ...documentHeader(order),
    time_zone: order.zone,
    account_number: await loadAccountNumber(app, order.lab_account_id),
    physician: document.physician,
    sample_id: order.sample_id,
    ordered_at: order.created_at,
    is_priority: order.priority,
    collection_method: order.method,
    fasting: lab_test.fasting,
    billing_type: order.billing_type,
    insurance: await coverageOf(app, order),
    icd_codes: await describeCodes(app, allDiagnoses(document)),
    tests: [
      {
        name: lab_test.name,
        code: null,
        sample_type: lab_test.sample_type,
        markers: lab_test.markers.map(({ id, name, provider_id }) => ({
          name,
          code: provider_id,
          icd_codes: document.icd_codes_by_test ? diagnosesOf(document, id) : [],
        })),
      },
    ],
    aoe_answers: answersOf(order),
    clinical_notes: document.clinical_notes,
  })
}

type LabelQuery = { number_of_labels: number; collection_date: string }

export async function labelsPdf(app: App, { team_id }: TeamCaller, order_id: string, { number_of_labels, collection_date }: LabelQuery) {
  const order = await requireOrder(app, team_id, order_id)
  if (!order.sample_id) throw notAvailable('The order has no sample_id yet. Wait for the lab to assign one.')
  if (!order.document.patient_details) throw notAvailable('The kit has no patient to print on a label. Register the kit first.')
  const day = dayOfCollection(collection_date, order.zone)
  return drawForPatient(app, order, 'labels', {
    ...documentHeader(order),
    sample_id: order.sample_id,
    collection_date: day,
    number_of_labels,
    layout: 'roll',
  })
}

/** The day in the patient's zone. Midnight UTC counts as a plain date, because some clients can send only timestamps. */
const dayOfCollection = (date: string, zone: string) => (/^[\d-]+(T00:00:00\.000Z)?$/.test(date) ? date.slice(0, 10) : dayIn(zone, date))

export async function orderInstructionsPdf(app: App, { team_id }: TeamCaller, order_id: string) {
  return drawInstructions(app, await requireOrder(app, team_id, order_id).then(({ lab_test }) => lab_test))
}

export async function labTestInstructionsPdf(app: App, { team_id }: TeamCaller, lab_test_id: string) {
  return drawInstructions(app, await catalog.requireLabTest(app, team_id, lab_test_id))
}

const drawInstructions = (app: App, test: catalog.LabTestRow) =>
  draw(app, 'collectionInstructions', {
    created_at: test.updated_at,
    id: test.id,
    name: test.name,
    description: test.description,
    method: test.method as LoadedOrder['method'],
    sample_type: test.sample_type as never,
    fasting: test.fasting,
    laboratory_name: test.lab.name,
    contact: null,
  })

export async function abnPdf(app: App, { team_id }: TeamCaller, order_id: string) {
  const order = await requireOrder(app, team_id, order_id)
  if (!order.has_abn) throw notAvailable('The order has no advance beneficiary notice. Only an order with has_abn set to true has one.')
  const { markers: all, price } = order.lab_test
  const markers = all.filter(({ id }) => !isSupported(diagnosesOf(billedDiagnoses(order.document), id)))
  const coverage = await coverageOf(app, order)
  return drawForPatient(app, order, 'abn', {
    ...documentHeader(order),
    member_id: coverage?.member_id ?? null,
    insurer: coverage?.payor_name ?? 'Medicare',
    tests: markers.map((marker) => ({
      name: marker.name,
      code: marker.provider_id,
      reason: 'The order lists no diagnosis that supports coverage of this test.',
      estimated_cost: marker.price,
    })),
    estimated_total: (markers.length === all.length ? price : termsOf(markers).price).toFixed(2),
  })
}

async function coverageOf(app: App, order: LoadedOrder) {
  const insurance = order.health_insurance_id ? await loadInsurance(app, order, order.health_insurance_id) : undefined
  if (!insurance) return null
  const { company, member_id, group_id = null, relationship, insured } = insurance
  return { payor_name: company.name, member_id, group_id, relationship, insured_name: `${insured.first_name} ${insured.last_name}` }
}

/** Draws a document that contains personal data. The audit log records its patient. */
export const drawForPatient = async <D extends keyof Documents>(
  app: App,
  { user_id }: Pick<LoadedOrder, 'user_id'>,
  document: D,
  input: Parameters<Documents[D]>[0],
) => ({ user_id, bytes: await draw(app, document, input) })

/** The fields that every document of an order shares. */
export function documentHeader(order: LoadedOrder) {
  const { document, lab_test, id: order_id, created_at } = order
  const { patient_details: patient, patient_address: home, shipping_details: shipping } = document
  const [first_name = 'Unregistered', last_name = 'kit'] = patient ? [patient.first_name, patient.last_name] : []
  const address = home ?? shipping
  return {
    created_at,
    order_id,
    laboratory: { ...lab_test.lab, phone_number: null },
    patient: {
      first_name,
      last_name,
      dob: patient?.dob ?? '',
      gender: patient?.gender ?? null,
      address: address && { ...address, second_line: address.second_line ?? null },
      phone_number: patient?.phone_number ?? null,
    },
  }
}

function answersOf({ document, lab_test }: LoadedOrder) {
  return document.aoe_answers.map(({ marker_id, question_id, answer }) => {
    const marker = lab_test.markers.find(({ id }) => id === marker_id)
    const question = marker?.aoe?.questions.find(({ id }) => id === question_id)
    const values = answer.split(',').map((code) => question?.answers.find((choice) => choice.code === code.trim())?.value ?? code)
    return { marker: marker?.name ?? String(marker_id), question: question?.value ?? String(question_id), answer: values.join(', ') }
  })
}
