import { z } from 'zod'
import { ethnicities, genders, races, Text } from '../../../contract/common.ts'
import { billingTypes, sampleTypes } from '../../../contract/labs/catalog.ts'
import { relationships } from '../../../contract/tenants/users.ts'
import { isTimeZone } from '../../../platform/time.ts'
import { charsets } from '../codec/rules-charset.ts'

/** The versions of HL7 that a profile can use. */
export const versions = ['2.3', '2.3.1', '2.4', '2.5', '2.5.1'] as const

const Zone = z.string().refine(isTimeZone, 'Must be an IANA time zone, such as America/Phoenix.')
const Code = Text(100)
/** Text with the standard delimiters, such as `LAB^1.2.3^ISO`. */
const Components = z
  .string()
  .max(200)
  .regex(/^[^|\r\n]*$/, 'Must be one field: no | and no line break.')
const Suffix = Components.regex(/^(\^.*)?$/, 'Must be empty or begin with ^.')
const Place = z.string().regex(/^[A-Z][A-Z0-9]{2}-[1-9]\d?(\.[1-9]\d?)?$/, 'Must be a field or component, such as OBR-2 or PID-18.1.')
const Length = z.int().min(1).max(250)
const Acknowledgment = z.enum(['AL', 'NE', 'ER', 'SU']).nullable()
const codesFor = <const V extends readonly [string, ...string[]]>(values: V) => z.strictObject(record(values, Code))
const record = <const V extends readonly string[], T extends z.ZodType>(values: V, shape: T) =>
  Object.fromEntries(values.map((value) => [value, shape])) as { [K in V[number]]: T }

const MessageRules = z.strictObject({
  encoding_characters: z.enum(['^~\\&', '^~\\&#']).describe('MSH-2.'),
  segment_end: z.enum(['CR', 'CRLF', 'LF']),
  charset: z.enum(charsets).describe('The character set to send, and of messages without MSH-18.'),
  declare_charset: z.boolean().describe('Whether to send MSH-18.'),
  sending_application: Components.describe('MSH-3.'),
  sending_facility: Components.describe('MSH-4. {account} stands for the account number at the lab.'),
  receiving_application: Components.describe('MSH-5.'),
  receiving_facility: Components.describe('MSH-6.'),
  accept_acknowledgment: Acknowledgment.describe('MSH-15. Null for the original acknowledgment mode.'),
  application_acknowledgment: Acknowledgment.describe('MSH-16.'),
  profile_ids: z.array(Components).max(20).describe('MSH-21.'),
  control_id: z.enum(['unique', 'order_number']).describe('What MSH-10 is.'),
  time: z.strictObject({ precision: z.enum(['minute', 'second']), offset: z.boolean() }),
})

const OrderRules = z.strictObject({
  message_type: z.enum(['ORM^O01', 'OML^O21']),
  grouping: z.enum(['one_orc', 'orc_per_test', 'message_per_test']),
  number_per_test: z
    .boolean()
    .describe('Whether ORC-2 and OBR-2 differ by test, such as 7K2M-1 and 7K2M-2. ORC-4 then has the number of the order.'),
  number_suffix: Suffix.describe('Components after the order number in ORC-2, ORC-4 and OBR-2.'),
  test_code: z.strictObject({
    local_code_in: z.enum(['OBR-4.1', 'OBR-4.4']),
    system: Code.describe('The coding system of local codes, such as L.').nullable(),
    loinc: z.boolean().describe('Whether to send the LOINC code too.'),
  }),
  provider_suffix: Suffix.describe('Components after NPI, last name and first name in ORC-12 and OBR-16.'),
  action_code: Code.nullable().describe('OBR-11.'),
  priority: z.strictObject({ in: z.enum(['TQ1-9', 'OBR-5', 'OBR-27.6']), routine: Code, stat: Code }),
  clinical_notes_in: z.enum(['OBR-13', 'NTE']).nullable(),
  abn: z.strictObject({ signed: Code, none: Code.nullable() }).nullable().describe('ORC-20.'),
  specimen_in: z.enum(['SPM', 'OBR-15']).nullable(),
  specimens: z.strictObject(record(sampleTypes, Components)).describe('Code, text and coding system of each sample type.'),
})

const PatientRules = z.strictObject({
  id_in: z.array(z.enum(['PID-2', 'PID-3', 'PID-4'])).min(1),
  id_suffix: Suffix,
  max_id: Length.nullable()
    .default(null)
    .describe('The greatest length of the patient ID. A longer one becomes a shorter one, which is always the same.'),
  names: z.strictObject({
    letter_case: z.enum(['as_given', 'upper']),
    max_first_name: Length.nullable(),
    max_last_name: Length.nullable(),
    name_type: Code.nullable().describe('PID-5.7.'),
  }),
  address: z.strictObject({ max_line: Length.nullable(), max_city: Length.nullable(), suffix: Suffix }),
  phone: z.enum(['components', 'parentheses', 'digits']),
  sex: codesFor(genders),
  race: codesFor(races).nullable(),
  ethnicity: codesFor(ethnicities).nullable(),
  account_in: z.enum(['PID-18']).nullable(),
  patient_class: Code.nullable().describe('PV1-2. Null for no PV1.'),
  attending_physician: z.boolean().describe('Whether to send PV1-7.'),
})

const BillingRules = z.strictObject({
  types: codesFor(billingTypes),
  type_in: z.array(z.enum(['IN1-47', 'OBR-18', 'PID-18.4'])),
  insurance: z.enum(['always', 'if_insured', 'never']).describe('When to send IN1.'),
  guarantor: z.enum(['unless_client_bill', 'if_insured', 'never']).describe('When to send GT1.'),
  relationships: codesFor(relationships),
})

const DiagnosisRules = z.strictObject({
  position: z.enum(['after_test', 'before_orders']),
  system: Code,
  method: Code.nullable().describe('DG1-2.'),
  text_in: z.enum(['DG1-3.2', 'DG1-4']),
  type: Code.nullable().describe('DG1-6.'),
})

const AoeRules = z.strictObject({
  value_types: z.enum(['text', 'coded']),
  status: Code.describe('OBX-11.'),
  nature: Code.nullable().describe('OBX-10.'),
  observation_type: Code.nullable().describe('OBX-29.'),
  question_system: Code.nullable(),
  fasting_in: z.enum(['ZCI-4']).nullable(),
  specimen_question: Code.nullable().describe('The question code that repeats the specimen source.'),
  notes_question: Code.nullable().describe('The question code that repeats the clinical notes.'),
})

const ResultRules = z.strictObject({
  order_number_in: z.array(Place).min(1).describe('Where the lab returns the order number. The first that has a value counts.'),
  account_in: z.array(Place).min(1).describe('Where the lab returns the account number.'),
  local_code_in: z.enum(['OBX-3.1', 'OBX-3.4']),
  performing_lab_in: z.enum(['OBX-23', 'ZPS']),
  pdf_in: z.array(z.enum(['OBX', 'ZEF'])),
})

const FileRules = z.strictObject({
  envelope: z
    .enum(['none', 'batch', 'file'])
    .default('none')
    .describe(
      'What is around the messages of a file: nothing, BHS and BTS, or also FHS and FTS. Without an envelope, a file has one message.',
    ),
  extension: z
    .string()
    .regex(/^[A-Za-z0-9]{1,10}$/, 'Must be 1 to 10 letters or digits.')
    .default('hl7'),
  lab_acknowledges: z.boolean().default(false).describe('Whether the lab answers orders with acknowledgments in its files.'),
  acknowledge_results: z.boolean().default(false).describe('Whether to answer the files of the lab with acknowledgments.'),
})

export const Profile = z
  .strictObject({
    name: Text(60),
    description: Text(500),
    verification: Text(300).describe('How far the profile was verified, and against what.'),
    version: z.enum(versions),
    time_zone: Zone.describe("The lab's zone, for times without an offset."),
    message: MessageRules,
    order: OrderRules,
    patient: PatientRules,
    billing: BillingRules,
    diagnosis: DiagnosisRules,
    aoe: AoeRules,
    results: ResultRules,
    files: FileRules.prefault({}).describe('How messages are written to files, for SFTP.'),
  })
  .meta({ description: 'How a lab writes HL7 v2.' })
export type Profile = z.output<typeof Profile>
