import type { z } from 'zod'
import type { ImageIn, NewOrder } from '../../../contract/labs/new-order.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { type SealingKey, seal } from '../../../platform/sealing/seal.ts'
import { insertInsurance } from '../../../tenants/users/records.ts'
import { isOtherPerson } from '../checks/rules-patients.ts'
import * as store from '../store.ts'

type Image = z.output<typeof ImageIn>
type WithImages = Pick<NewOrder, 'physician' | 'health_insurance'>

/** Stores the images of an order, each encrypted on its own. */
export async function storeImages(
  app: App,
  order: { team_id: string; id: string; key: SealingKey },
  { physician, health_insurance }: WithImages,
) {
  const images: Record<string, Image | null | undefined> = {
    physician_signature: physician?.signature_image,
    insurance_front: health_insurance?.front_image,
    insurance_back: health_insurance?.back_image,
    patient_signature: health_insurance?.patient_signature_image,
  }
  const rows = Object.entries(images).flatMap(([name, image]) =>
    image
      ? [{ team_id: order.team_id, order_id: order.id, name, sealed: seal(order.key, `order_images.sealed.${order.id}.${name}`, image) }]
      : [],
  )
  if (rows.length) await store.insertImages(app.db, rows)
}

type Patient = { team_id: string; user_id: string; key: SealingKey; info: Parameters<typeof isOtherPerson>[1] }
type InsuredOrder = Pick<NewOrder, 'health_insurance' | 'patient_details' | 'patient_address'>

/**
 * Records the deprecated health_insurance as an insurance of the user if it names payor and member; returns its ID. That of
 * another person is not primary, so that later orders do not use it.
 */
export async function recordInsurance(
  app: AppInTransaction,
  patient: Patient,
  { health_insurance, patient_details, patient_address }: InsuredOrder,
) {
  if (!health_insurance?.payor_code || !health_insurance.insurance_id) return undefined
  const { first_name, last_name, email, phone_number, gender, dob } = patient_details
  const { receiver_name: _, phone_number: __, ...addressFields } = patient_address
  const address = { ...addressFields, second_line: addressFields.second_line ?? null }
  const responsible = health_insurance.responsible_details
  return insertInsurance(app, patient, patient.key, {
    payor_code: health_insurance.payor_code,
    member_id: health_insurance.insurance_id,
    group_id: null,
    relationship: health_insurance.responsible_relationship ?? 'Self',
    insured: { first_name, last_name, email, phone_number, gender, dob, address },
    guarantor: responsible ? { ...responsible, household_income: null, household_size: null, email: null } : null,
    is_primary: !isOtherPerson(patient_details, patient.info),
  })
}
