import type { billingTypes } from '../../../contract/labs/catalog.ts'
import type { relationships } from '../../../contract/tenants/users.ts'
import type { Message, Segment } from '../codec/rules-message.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { buildMessage } from './rules-header.ts'
import { patientSegments } from './rules-patient.ts'
import { diagnosisSegments, orderControl, testSegments } from './rules-tests.ts'

type Address = { first_line: string; second_line?: string | null | undefined; city: string; state: string; zip: string; country: string }
export type Person = { first_name: string; last_name: string; address: Address | null; phone_number: string | null }

export type Patient = Person & {
  id: string
  dob: string
  gender: keyof Profile['patient']['sex']
  race: keyof NonNullable<Profile['patient']['race']> | null
  ethnicity: keyof NonNullable<Profile['patient']['ethnicity']> | null
}

export type Coverage = {
  payor_code: string
  payor_name: string
  payor_address: Address | null
  member_id: string
  group_id: string | null
  relationship: (typeof relationships)[number]
  insured: Person & { dob: string | null; gender: Patient['gender'] | null }
}

type Answer = { question: string; text: string; answers: { code: string | null; text: string }[]; is_number: boolean }

type Diagnosis = { code: string; text: string | null }

export type OrderedTest = {
  code: string
  name: string
  loinc: string | null
  sample_type: keyof Profile['order']['specimens']
  diagnoses: Diagnosis[]
  answers: Answer[]
}

/** An order as a lab receives it, without anything that only the customer needs. */
export type OrderToSend = {
  /** The requisition number: unique at the lab, at most 19 characters. */
  number: string
  /** The lab's own number, once it is known. */
  filler_number: string | null
  account: string
  ordered_at: string
  collected_at: string | null
  patient: Patient
  physician: { npi: string; first_name: string; last_name: string } | null
  tests: OrderedTest[]
  /** Every diagnosis of the tests once. */
  diagnoses: Diagnosis[]
  clinical_notes: string | null
  fasting: boolean
  priority: boolean
  has_abn: boolean
  billing_type: (typeof billingTypes)[number]
  coverage: Coverage | null
  guarantor: Person | null
}

export type Envelope = {
  action: 'NW' | 'CA'
  /** MSH-10 of the message at this position, if the profile does not use the order number. */
  controlId(position: number): string
  sent_at: string
  processing_id: 'P' | 'T'
}

export type Writing = { profile: Profile; order: OrderToSend; envelope: Envelope }

/** The messages that place an order, or cancel it. */
export function orderMessages(writing: Writing): Message[] {
  const { profile, order } = writing
  if (profile.order.grouping !== 'message_per_test') return [orderMessage(writing, order.tests, 0)]
  return order.tests.map((test, i) => orderMessage(writing, [test], i))
}

function orderMessage(writing: Writing, tests: OrderedTest[], position: number) {
  const { profile, order, envelope } = writing
  const [type = '', event = ''] = profile.order.message_type.split('^')
  return buildMessage(
    profile,
    { type, event, structure: `${type}_${event}`, control_id: controlIdOf(writing, position), account: order.account, ...envelope },
    [
      ...patientSegments(writing),
      ...(profile.diagnosis.position === 'before_orders' ? diagnosisSegments(writing, writing.order.diagnoses) : []),
      ...tests.flatMap((test, i) => orderGroup(writing, test, { i, number: testNumber(writing, position + i) })),
    ],
  )
}

export type Position = { i: number; number: string }

/** A group of one ORC begins with the first test. */
const orderGroup = (writing: Writing, test: OrderedTest, position: Position): Segment[] => [
  ...(writing.profile.order.grouping === 'one_orc' && position.i > 0 ? [] : [orderControl(writing, position)]),
  ...testSegments(writing, test, position),
]

/** The number in ORC-2 and OBR-2: of the order, or of one test of it. */
const testNumber = ({ profile, order }: Writing, position: number) =>
  profile.order.number_per_test ? `${order.number}-${position + 1}` : order.number

function controlIdOf(writing: Writing, position: number) {
  const { profile, order, envelope } = writing
  if (profile.message.control_id === 'unique') return envelope.controlId(position)
  const number = profile.order.grouping === 'message_per_test' ? testNumber(writing, position) : order.number
  return envelope.action === 'NW' ? number : `${number}C`
}
