import type { Envelope, OrderToSend } from '../messages/rules-order.ts'

const diabetes = { code: 'E11.22', text: 'Type 2 diabetes mellitus with diabetic chronic kidney disease' }

/** An invented order with everything that a profile can write, as long as in real orders. */
export const sampleOrder: OrderToSend = {
  number: '7K2M4Q9X3T1B',
  filler_number: null,
  account: 'ACC123',
  ordered_at: '2026-03-01T16:15:00.000Z',
  collected_at: '2026-03-01T14:15:00.000Z',
  patient: {
    id: 'c0a8f6e2-5b7d-4e19-9a3c-2f41d07be586',
    first_name: 'Zoë',
    last_name: "O'Fernsby-Núñez",
    dob: '1984-02-29',
    gender: 'female',
    race: 'white_caucasian',
    ethnicity: 'hispanic',
    address: { first_line: '12 Saltmarsh Lane', second_line: 'Apt 4', city: 'Austin', state: 'TX', zip: '78701', country: 'US' },
    phone_number: '+15125550100',
  },
  physician: { npi: '1234567893', first_name: 'Ada', last_name: 'Smithson' },
  tests: [
    {
      code: 'QM10007',
      name: 'Lipid Panel',
      loinc: '24331-1',
      sample_type: 'serum',
      diagnoses: [diabetes],
      answers: [
        { question: 'FASTING', text: 'Was the patient fasting?', answers: [{ code: 'Y', text: 'Yes' }], is_number: false },
        { question: 'WEIGHT', text: 'Weight in pounds', answers: [{ code: null, text: '142' }], is_number: true },
      ],
    },
    { code: 'QM10031', name: 'Hemoglobin A1c', loinc: '4548-4', sample_type: 'serum', diagnoses: [diabetes], answers: [] },
  ],
  diagnoses: [diabetes],
  clinical_notes: 'Fatigue & dizziness | since May',
  fasting: true,
  priority: false,
  has_abn: false,
  billing_type: 'commercial_insurance',
  coverage: {
    payor_code: 'TEAM-4F9C20A17B',
    payor_name: 'Oakmeadow Mutual Health',
    payor_address: null,
    member_id: 'W123456789',
    group_id: 'GRP77',
    relationship: 'Self',
    insured: {
      first_name: 'Zoë',
      last_name: "O'Fernsby-Núñez",
      dob: '1984-02-29',
      gender: 'female',
      address: { first_line: '12 Saltmarsh Lane', second_line: 'Apt 4', city: 'Austin', state: 'TX', zip: '78701', country: 'US' },
      phone_number: '+15125550100',
    },
  },
  guarantor: null,
}

export const sampleEnvelope = (action: Envelope['action']): Envelope => ({
  action,
  controlId: (position) => `A000000000000000${action === 'NW' ? 1 : 2}0${position + 1}`,
  sent_at: '2026-03-01T16:15:00.000Z',
  processing_id: 'T',
})
