import type { z } from 'zod'
import type {
  AoEAnswerIn,
  ConsentIn,
  HealthInsuranceIn,
  PatientAddressIn,
  PatientDetailsIn,
  PhysicianIn,
  ShippingDetailsIn,
} from '../../contract/labs/new-order.ts'
import type { Shipment } from '../../contract/labs/orders.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import type { TestDiagnoses } from './checks/rules-diagnoses.ts'

type Output<S extends z.ZodType> = z.output<S>
export type Warning = { code: string; path: (string | number)[]; message: string }

/** The personal data of an order, encrypted as one document with the user's key. */
export type OrderDocument = {
  patient_details: Output<typeof PatientDetailsIn> | null
  patient_address: Output<typeof PatientAddressIn> | null
  shipping_details: Output<typeof ShippingDetailsIn> | null
  shipment: Shipment | null
  physician: Omit<Output<typeof PhysicianIn>, 'signature_image'> | null
  health_insurance: Omit<Output<typeof HealthInsuranceIn>, 'front_image' | 'back_image' | 'patient_signature_image'> | null
  icd_codes: string[] | null
  icd_codes_by_test: TestDiagnoses[] | null
  consents: Output<typeof ConsentIn>[]
  aoe_answers: Output<typeof AoEAnswerIn>[]
  passthrough: string | null
  clinical_notes: string | null
  notes: string | null
  creator_member_id: string | null
  warnings: Warning[]
}

type WithImages = {
  physician?: (NonNullable<OrderDocument['physician']> & { signature_image?: unknown }) | null | undefined
  health_insurance?: Output<typeof HealthInsuranceIn> | null | undefined
}

/** Images are stored separately, so that reading an order does not load them. */
export function withoutImages({ physician, health_insurance }: WithImages): Pick<OrderDocument, 'physician' | 'health_insurance'> {
  const { signature_image: _, ...physicianFields } = physician ?? {}
  const { front_image: __, back_image: ___, patient_signature_image: ____, ...insurance } = health_insurance ?? {}
  // The spread of an absent physician widens the type.
  return {
    physician: physician ? (physicianFields as OrderDocument['physician']) : null,
    health_insurance: health_insurance ? insurance : null,
  }
}

export const emptyDocument: OrderDocument = {
  patient_details: null,
  patient_address: null,
  shipping_details: null,
  shipment: null,
  physician: null,
  health_insurance: null,
  icd_codes: null,
  icd_codes_by_test: null,
  consents: [],
  aoe_answers: [],
  passthrough: null,
  clinical_notes: null,
  notes: null,
  creator_member_id: null,
  warnings: [],
}

const associatedData = (order_id: string) => `orders.sealed.${order_id}`

export const encryptDocument = (key: SealingKey, order_id: string, document: OrderDocument) => seal(key, associatedData(order_id), document)

export const decryptDocument = (key: SealingKey, order_id: string, sealed: Buffer) =>
  open<OrderDocument>(key, associatedData(order_id), sealed)
