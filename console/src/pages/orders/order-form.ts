import type { api } from '../../api.ts'

export type NewOrder = Parameters<typeof api.createOrder>[0]['body']
export type ConsentType = NonNullable<NewOrder['consents']>[number]['consentType']
export type LabTest = Awaited<ReturnType<typeof api.listLabTests>>['data'][number]

/** `text` holds raw input by the field's path in the request. */
export type OrderForm = {
  user_id: string
  lab_test: LabTest | null
  text: Record<string, string>
  priority: boolean
  consents: ConsentType[]
  answers: Record<string, string>
}

export const emptyOrderForm = (): OrderForm => ({
  user_id: '',
  lab_test: null,
  text: { 'patient_details.gender': '', billing_type: 'client_bill', 'patient_address.country': 'US' },
  priority: false,
  consents: [],
  answers: {},
})

/** Builds a request that may be incomplete. The order check reports missing fields. */
export function buildOrder({ user_id, lab_test, text, priority, consents, answers }: OrderForm): NewOrder {
  const body: Record<string, unknown> = {
    ...(user_id ? { user_id } : {}),
    ...(lab_test ? { order_set: { lab_test_ids: [lab_test.id] } } : {}),
    patient_details: {},
    patient_address: {},
    priority,
    consents: consents.map((consentType) => ({ consentType })),
    aoe_answers: Object.entries(answers).flatMap(([key, answer]) => {
      const [marker_id, question_id] = key.split('.').map(Number)
      return answer ? [{ marker_id, question_id, answer }] : []
    }),
  }
  for (const [path, value] of Object.entries(text)) if (value.trim()) setPath(body, path.split('.'), value.trim())
  // The order check and the endpoint validate it; until then any part may be missing.
  return body as NewOrder
}

function setPath(target: Record<string, unknown>, [name = '', ...rest]: string[], value: string) {
  if (!rest.length) target[name] = value
  else {
    target[name] ??= {}
    setPath(target[name] as Record<string, unknown>, rest, value)
  }
}

export const questionsOf = (test: LabTest | null) =>
  (test?.markers ?? []).flatMap((marker) =>
    (marker.aoe?.questions ?? []).map((question) => ({ marker, question, key: `${marker.id}.${question.id}` })),
  )

type Info = Awaited<ReturnType<typeof api.getUserInfo>>

export function formTextFromInfo(info: Info): Record<string, string> {
  const { first_name, last_name, dob, gender, phone_number, email, address } = info
  const details = Object.entries({ first_name, last_name, dob, gender, phone_number, email }).map(([name, value]) => [
    `patient_details.${name}`,
    value,
  ])
  const { first_line, second_line, city, state, zip, country } = address
  const addressText = Object.entries({ first_line, second_line: second_line ?? '', city, state, zip, country }).map(([name, value]) => [
    `patient_address.${name}`,
    value,
  ])
  return Object.fromEntries([...details, ...addressText])
}
