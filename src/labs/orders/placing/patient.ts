import type { NewOrder } from '../../../contract/labs/new-order.ts'
import type { App } from '../../../platform/app.ts'
import { type Info, loadPatient } from '../../../tenants/users/records.ts'
import { countryCode, stateCode } from '../../geography/rules-states.ts'
import { normalizeIcdCodes } from '../checks/rules-billing.ts'
import { isPersonOfRecord, recordedProxy } from '../checks/rules-patients.ts'
import { normalizePhone } from '../checks/rules-people.ts'
import { countOrdersOfUser } from '../store-counts.ts'

/** Loads a user as the patient of a new order, whose seed depends on the number of their orders. */
export async function loadNewPatient(app: App, team_id: string, user_id: string) {
  const [patient, orders] = await Promise.all([loadPatient(app, team_id, user_id), countOrdersOfUser(app.db, team_id, user_id)])
  return { ...patient, orders }
}

type PatientFields = Pick<NewOrder, 'patient_details' | 'patient_address'> & Partial<Pick<NewOrder, 'icd_codes' | 'icd_codes_by_test'>>

/** Gap 45: normalizes state, country, phone and diagnosis codes, and fills in the recorded proxy; everything else stays as sent. */
export function normalizeOrder<B extends PatientFields>(body: B, storedInfo: Info | undefined): B {
  const { patient_details: patient, patient_address: address, icd_codes, icd_codes_by_test } = body
  return {
    ...body,
    patient_details: {
      ...patient,
      phone_number: normalizePhone(patient.phone_number) ?? patient.phone_number,
      medical_proxy: patient.medical_proxy ?? recordedProxy(patient, storedInfo) ?? null,
    },
    patient_address: {
      ...address,
      state: stateCode(address.state) ?? address.state,
      country: countryCode(address.country) ?? address.country,
    },
    ...(icd_codes ? { icd_codes: normalizeIcdCodes(icd_codes) } : {}),
    ...(icd_codes_by_test
      ? { icd_codes_by_test: icd_codes_by_test.map((entry) => ({ ...entry, icd_codes: normalizeIcdCodes(entry.icd_codes) })) }
      : {}),
  }
}

/** The demographics in an order, unless it is for somebody else than the person of the record. */
export function infoOf({ patient_details, patient_address }: PatientFields, storedInfo: Info | undefined): Info | undefined {
  if (storedInfo && !isPersonOfRecord(patient_details, storedInfo)) return undefined
  const { first_name, last_name, email, phone_number, gender, dob, race, ethnicity, sexual_orientation, gender_identity } = patient_details
  const { first_line, second_line, country, zip, city, state, access_notes } = patient_address
  return {
    first_name,
    last_name,
    email,
    phone_number,
    gender,
    dob,
    address: { first_line, second_line: second_line ?? '', country, zip, city, state, access_notes: access_notes ?? null },
    medical_proxy: patient_details.medical_proxy ?? null,
    race: race ?? storedInfo?.race ?? null,
    ethnicity: ethnicity ?? storedInfo?.ethnicity ?? null,
    sexual_orientation: sexual_orientation ?? storedInfo?.sexual_orientation ?? null,
    gender_identity: gender_identity ?? storedInfo?.gender_identity ?? null,
  }
}
