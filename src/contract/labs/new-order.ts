import { z } from 'zod'
import {
  AddressIn,
  Day,
  DayIn,
  Email,
  ethnicities,
  GuarantorIn,
  genderIdentities,
  genders,
  Id,
  InstantIn,
  races,
  SampleId,
  sexualOrientations,
} from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { relationships } from '../tenants/users.ts'
import { billingTypes, OrderSet } from './catalog.ts'
import { methods } from './lifecycle.ts'

export const consentTypes = [
  'terms-of-use',
  'telehealth-informed-consent',
  'mobile-terms-and-conditions',
  'notice-of-privacy-practices',
  'privacy-policy',
  'hipaa-authorization',
] as const

const MaxText = (max: number) => z.string().max(max, `Must have at most ${max} characters.`)
const List = <T extends z.ZodType>(item: T, max: number) => z.array(item).max(max, `Must have at most ${max} entries.`)
const Trimmed = (max: number) =>
  z.string().trim().min(1, 'Must not be empty or only spaces.').max(max, `Must have at most ${max} characters.`)
const Zip = z.string().regex(/^\d{5}(-\d{4})?$/, 'Must be five digits, optionally followed by a hyphen and four digits.')
const Amount = z.int('Must be a whole number.').min(0, 'Must not be negative.').nullish()
const Passthrough = MaxText(10_000).nullish().describe('Your own text. Assay returns it unchanged and does not send it to the lab.')

/** Accepts every spelling of a birth date that Junction accepts and stores it as YYYY-MM-DD. Gap 352: a time must be midnight. */
const BirthDate = z
  .string()
  .max(40, 'Must be a valid date in the format YYYY-MM-DD.')
  .transform((text, context) => {
    const [, year, , month, day] =
      /^(\d{4})([-/]?)(\d{2})\2(\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.exec(text.trim()) ?? []
    const parsed = Day.safeParse(`${year}-${month}-${day}`)
    if (parsed.success) return parsed.data
    context.addIssue({
      code: 'custom',
      message: 'Must be a valid date in the format YYYY-MM-DD. A time, if you send one, must be midnight.',
    })
    return z.NEVER
  })
  .meta({ format: 'date', example: '1980-05-04' })

const IMAGE_BYTES = 5 * 1024 * 1024
const decodedBytes = (base64: string) => Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4)
const isBase64 = (text: string) => text.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ''))

export const ImageIn = z
  .object({
    content: z
      .string()
      .min(1, 'Must not be empty.')
      .max(2 * IMAGE_BYTES, { error: 'Must decode to at most 5 MB.', abort: true })
      .overwrite((text) => text.replace(/\s+/g, ''))
      .refine(isBase64, 'Must be the bytes of the image in base64.')
      .refine((text) => decodedBytes(text) <= IMAGE_BYTES, 'Must decode to at most 5 MB.')
      .meta({ format: 'byte' }),
    content_type: z.enum(['image/jpeg', 'image/png'], { error: 'Must be image/jpeg or image/png.' }),
  })
  .meta({ id: 'ImageInput', description: 'A JPEG or PNG image in base64, at most 5 MB when decoded.' })

const physician = {
  first_name: Trimmed(100),
  last_name: Trimmed(100),
  npi: Trimmed(40).meta({ description: 'National Provider Identifier: ten digits.', example: '1234567893' }),
  email: MaxText(254).nullish(),
  licensed_states: List(Trimmed(60), 60).default([]),
}
export const PhysicianIn = z.object({ ...physician, signature_image: ImageIn.nullish() }).meta({ id: 'PhysicianInput' })
const PhysicianBaseIn = z.object(physician).meta({ id: 'PhysicianBaseInput' })

const PersonDetailsIn = z
  .object({
    first_name: Trimmed(100),
    last_name: Trimmed(100),
    address: AddressIn,
    phone_number: Trimmed(40),
    phone_type: MaxText(40).default('Mobile'),
  })
  .meta({ id: 'PersonDetailsInput' })

const IcdCodes = List(MaxText(50), 100)

/** The diagnoses of one test of the order. */
const TestDiagnosesIn = z
  .object({
    lab_test_id: Id.nullish().describe('A lab test of the order. All of its markers have the diagnoses.'),
    marker_id: z.int('Must be a whole number.').nullish().describe('A marker of the order. It takes precedence over its lab test.'),
    icd_codes: List(MaxText(50), 12).min(1, 'Must have at least one entry.'),
  })
  .refine(({ lab_test_id, marker_id }) => (lab_test_id ? 1 : 0) + (typeof marker_id === 'number' ? 1 : 0) === 1, {
    error: 'Must have lab_test_id or marker_id, and not both.',
  })
  .meta({ id: 'TestDiagnosesInput' })

export const HealthInsuranceIn = z
  .object({
    front_image: ImageIn.nullish(),
    back_image: ImageIn.nullish(),
    patient_signature_image: ImageIn.nullish(),
    subjective: MaxText(10_000).nullish(),
    assessment_plan: MaxText(10_000).nullish(),
    payor_code: MaxText(100).nullish(),
    insurance_id: MaxText(100).nullish(),
    responsible_relationship: z.enum(relationships).nullish(),
    responsible_details: PersonDetailsIn.nullish().describe('The person who pays, if the relationship is not Self.'),
    diagnosis_codes: IcdCodes.nullish(),
  })
  .meta({ id: 'HealthInsuranceInput' })

export const ConsentIn = z
  .object({ consentType: z.enum(consentTypes), version: MaxText(40).default('1.0'), timeOfConsent: InstantIn.optional() })
  .meta({ id: 'ConsentInput' })

export const AoEAnswerIn = z
  .object({
    marker_id: z.int('Must be a whole number.'),
    question_id: z.int('Must be a whole number.'),
    answer: MaxText(2000).describe('The code of an answer that the question offers, or text. Separate several codes with commas.'),
  })
  .meta({ id: 'AoEAnswerInput' })

export const PatientDetailsIn = z
  .object({
    first_name: Trimmed(50),
    last_name: Trimmed(50),
    dob: BirthDate,
    gender: z.enum(genders),
    phone_number: Trimmed(40),
    email: Email,
    medical_proxy: GuarantorIn.nullish().describe(
      'Required for a minor. If you omit it, the medical proxy in the demographics of the user counts, provided that the name and the birth date are the same. Null means none.',
    ),
    race: z.enum(races).nullish(),
    ethnicity: z.enum(ethnicities).nullish(),
    sexual_orientation: z.enum(sexualOrientations).nullish(),
    gender_identity: z.enum(genderIdentities).nullish(),
    household_income: Amount.describe('In US dollars.'),
    household_size: Amount,
  })
  .meta({ id: 'PatientDetailsInput' })

const addressFields = {
  first_line: Trimmed(200),
  second_line: MaxText(200).nullish(),
  city: Trimmed(100),
  state: Trimmed(60).meta({ example: 'CA' }),
  zip: Zip.meta({ example: '94110' }),
  country: Trimmed(60).meta({ example: 'US' }),
}
const access_notes = MaxText(1000).nullish()

export const PatientAddressIn = z
  .object({ receiver_name: MaxText(200).default(''), ...addressFields, access_notes, phone_number: MaxText(40).nullish() })
  .meta({ id: 'PatientAddressInput' })

export const ShippingDetailsIn = z
  .object({ receiver_name: Trimmed(200), ...addressFields, phone_number: Trimmed(40) })
  .meta({ id: 'ShippingDetailsInput' })

const Consents = List(ConsentIn, 50).default([])

export const NewOrder = z
  .object({
    user_id: Id,
    patient_details: PatientDetailsIn,
    patient_address: PatientAddressIn,
    lab_test_id: deprecated(Id.nullish(), 'Use `order_set.lab_test_ids`.'),
    order_set: OrderSet.nullish(),
    collection_method: z.enum(methods).nullish().describe('Required with add_on. Default: the method of the lab tests.'),
    physician: PhysicianIn.nullish(),
    health_insurance: deprecated(HealthInsuranceIn.nullish(), 'Record the insurance with `POST /v2/user/{user_id}/insurance`.'),
    priority: z.boolean().default(false).describe('True for a STAT order. Has no effect if the lab does not offer STAT orders.'),
    billing_type: z.enum(billingTypes).default('client_bill'),
    icd_codes: IcdCodes.nullish().describe('The diagnoses of tests without their own.'),
    icd_codes_by_test: List(TestDiagnosesIn, 200).nullish().describe('The diagnoses of single tests.'),
    consents: Consents,
    activate_by: DayIn.nullish().describe('Assay sends the order to the lab on this day. Default: immediately.'),
    aoe_answers: List(AoEAnswerIn, 500).nullish(),
    passthrough: Passthrough,
    clinical_notes: MaxText(1000).nullish(),
    lab_account_id: Id.nullish(),
    creator_member_id: Id.nullish(),
  })
  .meta({
    id: 'NewOrder',
    example: {
      user_id: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
      patient_details: {
        first_name: 'Fictitious',
        last_name: 'Patient',
        dob: '1980-05-04',
        gender: 'female',
        phone_number: '+12025550143',
        email: 'patient@example.com',
      },
      patient_address: { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
      order_set: { lab_test_ids: ['f49f0523-b294-5a04-8de6-7a4ceb5d8762'] },
    },
  })
export type NewOrder = z.output<typeof NewOrder>

/** The address of an imported order can be outside the United States, so its zip is free text. */
export const ImportOrder = z
  .object({
    user_id: Id,
    billing_type: z.enum(billingTypes),
    order_set: OrderSet,
    collection_method: z.enum(methods),
    physician: PhysicianIn.nullish(),
    patient_details: PatientDetailsIn,
    patient_address: z
      .object({ receiver_name: MaxText(200), ...addressFields, zip: Trimmed(20), access_notes })
      .meta({ id: 'ImportAddressInput' }),
    sample_id: SampleId,
    lab_account_id: Id.nullish(),
  })
  .meta({ id: 'ImportOrder' })

export const NewTestkitOrder = z
  .object({
    user_id: Id,
    lab_test_id: Id,
    shipping_details: ShippingDetailsIn,
    passthrough: Passthrough,
    lab_account_id: Id.nullish(),
    activate_by: DayIn.nullish().describe('Assay sends the order to the lab on this day. Default: immediately.'),
  })
  .meta({ id: 'NewTestkitOrder', description: 'An order for a kit whose patient is named at registration.' })

export const RegisterTestkit = z
  .object({
    user_id: Id.nullish().describe('Moves the order to another user of the team. Default: the user of the order.'),
    sample_id: SampleId,
    patient_details: PatientDetailsIn,
    patient_address: PatientAddressIn,
    physician: PhysicianBaseIn.nullish(),
    health_insurance: HealthInsuranceIn.nullish(),
    consents: Consents,
    aoe_answers: List(AoEAnswerIn, 500)
      .nullish()
      .describe('A missing answer is only a warning here, because Junction clients cannot send any.'),
  })
  .meta({ id: 'RegisterTestkit' })
