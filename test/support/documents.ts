import type { AdvanceNotice } from '../../src/labs/documents/abn.ts'
import type { CollectionInstructions } from '../../src/labs/documents/collection-instructions.ts'
import type { Result } from '../../src/labs/documents/flag.ts'
import type { Labels } from '../../src/labs/documents/labels.ts'
import type { Requisition } from '../../src/labs/documents/requisition.ts'
import type { ResultReport } from '../../src/labs/documents/result-report.ts'
import { anAddress, people } from './people.ts'

const [zephyrine] = people

export const aPatient = (change: object = {}) => ({
  first_name: zephyrine.first_name,
  last_name: zephyrine.last_name,
  dob: zephyrine.dob,
  gender: 'female',
  phone_number: zephyrine.phone_number,
  address: { ...anAddress(), second_line: 'Apt 9', country: 'US' },
  ...change,
})

const aPhysician = { first_name: 'Ottoline', last_name: 'Brackwater', npi: '1234567893' }

const aLaboratory = {
  name: 'Copperfield Reference Laboratory',
  first_line_address: '1200 Assayer Way',
  city: 'Tempe',
  state: 'AZ',
  zipcode: '85281',
  phone_number: '+1 202-555-0110',
  clia_number: '03D0000000',
}

export const aResult = (change: Partial<Result> = {}): Result => ({
  name: 'Ferritin',
  slug: 'ferritin',
  result: '84',
  type: 'numeric',
  unit: 'ng/mL',
  reference_range: '15 – 150',
  min_range_value: 15,
  max_range_value: 150,
  is_above_max_range: false,
  is_below_min_range: false,
  interpretation: 'normal',
  notes: null,
  source_markers: null,
  ...change,
})

export const high = { is_above_max_range: true, interpretation: 'abnormal' } as const
export const low = { is_below_min_range: true, interpretation: 'abnormal' } as const

export const aReport = (change: Partial<ResultReport> = {}): ResultReport => ({
  created_at: '2026-03-04T16:20:00.000Z',
  time_zone: 'America/Phoenix',
  laboratory: aLaboratory,
  patient: aPatient(),
  physician: aPhysician,
  order_id: '5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10',
  sample_id: 'CPF2603041177',
  collected_at: '2026-03-02T15:05:00.000Z',
  received_at: '2026-03-03T08:40:00.000Z',
  reported_at: '2026-03-04T16:18:00.000Z',
  status: 'final',
  interpretation: 'normal',
  notes: null,
  sections: [{ results: [aResult()], missing: [] }],
  ...change,
})

export const aRequisition = (change: Partial<Requisition> = {}): Requisition => ({
  created_at: '2026-03-01T10:00:00.000Z',
  time_zone: 'America/Phoenix',
  laboratory: aLaboratory,
  account_number: 'ACC-20417',
  patient: aPatient(),
  physician: aPhysician,
  order_id: '5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10',
  sample_id: 'CPF2603041177',
  ordered_at: '2026-03-01T09:58:00.000Z',
  is_priority: false,
  collection_method: 'walk_in_test',
  fasting: true,
  billing_type: 'commercial_insurance',
  insurance: { payor_name: 'Oakmutual', member_id: 'MEMBER-55501', group_id: 'G-77', relationship: 'Self', insured_name: null },
  icd_codes: [
    { code: 'E78.5', description: 'Hyperlipidemia, unspecified' },
    { code: 'R53.83', description: null },
  ],
  tests: [
    {
      name: 'Lipid panel',
      code: '7600',
      sample_type: 'serum',
      markers: [
        { name: 'Total cholesterol', code: '7601', icd_codes: ['E78.5'] },
        { name: 'HDL cholesterol', code: '7602', icd_codes: [] },
      ],
    },
    { name: 'Ferritin', code: '457', sample_type: 'serum', markers: [] },
  ],
  aoe_answers: [{ marker: 'Lipid panel', question: 'Is the patient fasting?', answer: 'Yes' }],
  clinical_notes: 'Follow-up of last year. Please draw from the left arm.',
  ...change,
})

export const someLabels = (change: Partial<Labels> = {}): Labels => ({
  created_at: '2026-03-01T10:00:00.000Z',
  patient: aPatient(),
  order_id: '5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10',
  sample_id: 'CPF2603041177',
  collection_date: '2026-03-02',
  number_of_labels: 3,
  layout: 'roll',
  ...change,
})

export const someInstructions = (change: Partial<CollectionInstructions> = {}): CollectionInstructions => ({
  created_at: '2026-03-01T10:00:00.000Z',
  id: '0b1f7c44-9a41-4a3c-8b36-6b6d2ea3b7b2',
  name: 'Heart health at home',
  description: 'Cholesterol, triglycerides and long-term blood sugar.',
  method: 'testkit',
  sample_type: 'dried_blood_spot',
  fasting: true,
  laboratory_name: aLaboratory.name,
  contact: 'help@clinic.example, +1 202-555-0111',
  ...change,
})

export const aNotice = (change: Partial<AdvanceNotice> = {}): AdvanceNotice => ({
  created_at: '2026-03-01T10:00:00.000Z',
  laboratory: aLaboratory,
  patient: aPatient(),
  order_id: '5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10',
  member_id: 'MEMBER-55501',
  insurer: 'Medicare',
  tests: [
    { name: 'Vitamin D, 25-hydroxy', code: '17306', reason: 'Not paid for with the diagnosis on this order.', estimated_cost: '82.00' },
    { name: 'Lipid panel', code: '7600', reason: 'Paid for once a year only.', estimated_cost: null },
  ],
  estimated_total: '82.00',
  ...change,
})

export const manyResults = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const name = `Marker ${String(index + 1).padStart(3, '0')}`
    return aResult({ name, slug: name, result: String(20 + index), source_markers: [{ name: 'Wellness panel' }] })
  })
