import type { App } from '../../../platform/app.ts'
import { describeCodes } from '../../../tenants/insurance/actions.ts'
import { loadInsurance } from '../../../tenants/users/records.ts'
import { loadAccountNumber } from '../../catalog/markers.ts'
import { allDiagnoses, diagnosesOf } from '../../orders/checks/rules-diagnoses.ts'
import type { LoadedOrder } from '../../orders/reading/present.ts'
import type { Coverage, OrderedTest, OrderToSend, Patient } from '../messages/rules-order.ts'

/** An order with its patient as a message writes it. */
export async function loadOrderToSend(app: App, order: LoadedOrder, number: string): Promise<OrderToSend> {
  const { document, lab_test } = order
  const insurance = order.health_insurance_id ? await loadInsurance(app, order, order.health_insurance_id) : undefined
  const described = await describeCodes(app, allDiagnoses(document))
  const diagnoses = described.map(({ code, description }) => ({ code, text: description }))
  return {
    number,
    filler_number: null,
    account: (await loadAccountNumber(app, order.lab_account_id)) ?? '',
    ordered_at: order.created_at,
    collected_at: order.collected_at,
    patient: patientOf(order),
    physician: document.physician,
    tests: testsOf(order, diagnoses),
    diagnoses,
    clinical_notes: document.clinical_notes,
    fasting: lab_test.fasting,
    priority: order.priority,
    has_abn: order.has_abn,
    billing_type: order.billing_type as OrderToSend['billing_type'],
    coverage: insurance ? coverageOf(insurance) : null,
    guarantor: insurance?.guarantor ?? null,
  }
}

function patientOf({ document, user_id }: LoadedOrder): Patient {
  const { patient_details: patient, patient_address } = document
  if (!patient) throw new Error('An order without a patient cannot be sent')
  const { first_name, last_name, dob, gender, phone_number, race = null, ethnicity = null } = patient
  return { id: user_id, first_name, last_name, dob, gender, phone_number, race, ethnicity, address: patient_address }
}

type Insurance = NonNullable<Awaited<ReturnType<typeof loadInsurance>>>

const coverageOf = ({ payor_code, company, member_id, group_id = null, relationship, insured }: Insurance): Coverage => ({
  payor_code,
  payor_name: company.name,
  payor_address: company.address.first_line ? company.address : null,
  member_id,
  group_id,
  relationship,
  insured,
})

const testsOf = ({ document, lab_test }: LoadedOrder, diagnoses: OrderToSend['diagnoses']): OrderedTest[] =>
  lab_test.markers.map((marker) => ({
    code: marker.provider_id ?? String(marker.id),
    name: marker.name,
    loinc: marker.loinc,
    sample_type: lab_test.sample_type as OrderedTest['sample_type'],
    diagnoses: diagnosesOf(document, marker.id).flatMap((code) => diagnoses.find((diagnosis) => diagnosis.code === code) ?? []),
    answers: document.aoe_answers.filter(({ marker_id }) => marker_id === marker.id).map((answer) => answerOf(marker, answer)),
  }))

type Marker = LoadedOrder['lab_test']['markers'][number]
type Answer = LoadedOrder['document']['aoe_answers'][number]

function answerOf({ aoe }: Marker, { question_id, answer }: Answer): OrderedTest['answers'][number] {
  const question = aoe?.questions.find(({ id }) => id === question_id)
  const isChoice = question?.type === 'choice' || question?.type === 'multi_choice'
  const parts = isChoice ? answer.split(',').map((code) => code.trim()) : [answer]
  return {
    question: question?.code ?? String(question_id),
    text: question?.value ?? '',
    answers: parts.map((part) => {
      const choice = question?.answers.find(({ code }) => code === part)
      return { code: choice?.code ?? null, text: choice?.value ?? part }
    }),
    is_number: question?.type === 'numeric',
  }
}
