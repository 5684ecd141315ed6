import { z } from 'zod'
import { AddressOut, Instant, openEnum, RecentIn, Text } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { PersonalText, PersonName, personal, Safe, safe } from '../personal.ts'

/** Ordered from best to worst. */
export const interpretations = ['normal', 'unknown', 'abnormal', 'critical'] as const
export type Interpretation = (typeof interpretations)[number]
export const resultTypes = ['numeric', 'range', 'comment', 'coded_value'] as const
export type ResultType = (typeof resultTypes)[number]
const reportStatuses = ['partial', 'final', 'corrected'] as const
/** A status that no table has is `unknown`, and never final. */
export const resultStatuses = ['preliminary', 'final', 'corrected', 'withdrawn', 'unknown'] as const
export type ResultStatus = (typeof resultStatuses)[number]
export type ReportStatus = (typeof reportStatuses)[number]
const failureTypes = [
  'quantity_not_sufficient_failure',
  'collection_process_failure',
  'drop_off_failure',
  'internal_lab_failure',
  'order_entry_failure',
  'non_failure',
  'unknown_failure',
  'patient_condition_failure',
  'missing_result_calc_failure',
  'missing_demo_aoe_calc_failure',
  'insufficient_volume',
] as const

/** No measurement needs more digits, and the limit keeps every parsed number finite. */
const digits = String.raw`(?:\d{1,20}(?:\.\d{1,20})?|\.\d{1,20})`
export const numberText = new RegExp(`^[+-]?${digits}$`)
/** The format of a result of type range: `<5`, `>=0.5`, `2-4`. */
export const rangeText = new RegExp(`^(?:[<>]=?${digits}|${digits}-${digits})$`)

const SourceMarker = z.object({ marker_id: z.int(), name: Safe, slug: Safe, provider_id: Safe.nullable() }).meta({ id: 'SourceMarker' })

const identity = {
  name: Safe,
  slug: Safe,
  loinc: Safe.nullable(),
  loinc_slug: Safe.nullable(),
  provider_id: Safe.nullable().describe("The lab's code for the measurement."),
  source_markers: z
    .array(SourceMarker)
    .nullable()
    .describe('The ordered markers that this measurement belongs to. Null if the measurement was not ordered.'),
}

export const BiomarkerResult = z
  .object({
    ...identity,
    value: deprecated(z.number().nullable(), 'Use `result`. The value is -1 if the result is not a number.'),
    result: Safe,
    type: openEnum(resultTypes),
    unit: Safe.nullable().describe('As the lab wrote it.'),
    unit_ucum: Safe.nullish().describe('The UCUM code of the unit, if it is known. Assay converts nothing.'),
    timestamp: Instant.nullable().describe('When the lab reported the result.'),
    notes: PersonalText.nullable(),
    reference_range: Safe.nullable(),
    min_range_value: z.number().nullable(),
    max_range_value: z.number().nullable(),
    is_above_max_range: z.boolean().nullable().describe('Null if there is no range, or the result cannot be compared with it.'),
    is_below_min_range: z.boolean().nullable(),
    interpretation: openEnum(interpretations),
    source_interpretation: Safe.describe('The interpretation of the lab. Empty if the lab sent none.'),
    performing_laboratory: Safe.nullable(),
    source_sample_id: Safe.nullable(),
    status: openEnum(resultStatuses)
      .nullish()
      .describe('The status that a lab connection reports. A withdrawn result belongs to another patient and has no value.'),
    sub_id: Safe.nullish().describe('Tells several results of the same measurement apart.'),
  })
  .meta({ id: 'BiomarkerResult' })
export type BiomarkerResult = z.output<typeof BiomarkerResult>

export const MissingResult = z
  .object({ ...identity, inferred_failure_type: openEnum(failureTypes), note: PersonalText.nullable() })
  .meta({ id: 'MissingResult' })
export type MissingResult = z.output<typeof MissingResult>

const SampleMoment = z.union([z.object({ timestamp: Instant, timezone_offset: z.int() }).meta({ id: 'MomentWithOffset' }), Safe]).nullish()

const PerformingLaboratory = z
  .object({
    name: Safe,
    clia_number: Safe.nullish(),
    phone_number: Safe.nullish(),
    medical_director: Safe.nullish(),
    address: safe(AddressOut).nullish(),
  })
  .meta({ id: 'PerformingLaboratory' })
export type PerformingLaboratory = z.output<typeof PerformingLaboratory>

const ClinicalInformation = z
  .object({
    fasting: z.boolean(),
    notes: PersonalText.nullish(),
    information: PersonalText.nullish(),
    total_volume: Safe.nullish(),
  })
  .meta({ id: 'ClinicalInformation' })

export const SampleData = z
  .object({
    sample_id: Safe.nullish(),
    control_number: Safe.nullish().describe("The lab's own number of the order: the filler order number of an HL7 message."),
    date_collected: SampleMoment,
    date_received: SampleMoment,
    date_reported: SampleMoment,
    performing_laboratories: z.record(Safe, PerformingLaboratory).nullish(),
    clinical_information: ClinicalInformation.nullish(),
  })
  .meta({ id: 'SampleData' })
export type SampleData = z.output<typeof SampleData>

export const ResultDocument = z
  .object({ document: z.int().describe('The number in the download path, from 1.'), media_type: Safe })
  .meta({ id: 'ResultDocument' })

const deprecatedDate = <T extends z.ZodType>(shape: T) => deprecated(shape, 'Use `sample_information`.')

export const ResultsMetadata = z
  .object({
    age: PersonalText.describe('In years, on the day of collection. If that day is unknown, on the day of the report.'),
    dob: personal(z.string(), 'date'),
    'clia_#': Safe.nullable(),
    patient: PersonName,
    provider: PersonName.nullable().describe('The physician.'),
    laboratory: Safe.nullable(),
    date_reported: deprecatedDate(Safe),
    date_collected: deprecatedDate(Safe.nullable()),
    date_received: deprecatedDate(Safe.nullable()),
    specimen_number: Safe,
    status: openEnum(['partial', 'final']),
    interpretation: openEnum(interpretations).nullable(),
    patient_id: PersonalText.nullish(),
    account_id: Safe.nullish(),
    result_version: z
      .int()
      .nullish()
      .describe('The number of this report. Null for the combined results of several orders of a transaction.'),
  })
  .meta({ id: 'ResultsMetadata' })
export type ResultsMetadata = z.output<typeof ResultsMetadata>

/** Takes the transaction shape as an argument to avoid an import cycle. Call it once, because it registers a schema ID. */
export const labResults = <Transaction extends z.ZodType>(OrderTransaction: Transaction) =>
  z
    .object({
      metadata: ResultsMetadata,
      results: z.array(BiomarkerResult),
      missing_results: z.array(MissingResult).nullable(),
      sample_information: z.record(Safe, SampleData).nullable().describe('Keyed by sample_id.'),
      order_transaction: OrderTransaction.nullish(),
      documents: z.array(ResultDocument).nullish().describe('Documents of the lab report, PDFs first.'),
    })
    .meta({ id: 'LabResults' })

const measurementName = {
  provider_id: Text(60).nullish().describe("The lab's code for a marker that consists of one measurement."),
  slug: Text(100).nullish().describe('The slug of the measurement in the catalog.'),
  loinc: z
    .string()
    .regex(/^\d{1,7}-\d$/, 'Must be a LOINC code, such as 2345-7.')
    .nullish(),
  name: Text(200).nullish(),
}
const isNamed = (measurement: { provider_id?: unknown; slug?: unknown; loinc?: unknown }) =>
  Boolean(measurement.provider_id || measurement.slug || measurement.loinc)
const nameRequired = { error: 'Identify the measurement with slug, loinc or provider_id.' }

const rangeLimit = z.number().nullish()
const remark = z.string().max(5000, 'Must have at most 5000 characters.').nullish()

export const NewResult = z
  .object({
    ...measurementName,
    result: Text(5000),
    type: z.enum(resultTypes).nullish().describe('Default: derived from the result.'),
    unit: z.string().max(60).nullish().describe('Default: the unit in the catalog.'),
    reference_range: z
      .string()
      .max(200)
      .nullish()
      .describe('Default: the range in the catalog, if you send no range value either. Null for no range.'),
    min_range_value: rangeLimit,
    max_range_value: rangeLimit,
    interpretation: z.enum(interpretations).nullish().describe('The interpretation of the lab. Default: derived from the range.'),
    notes: remark,
    performing_laboratory: z.string().max(200).nullish(),
  })
  .refine(isNamed, nameRequired)
  .refine(({ type, result }) => type !== 'numeric' || numberText.test(result), {
    path: ['result'],
    error: 'Must be a number for the type numeric.',
  })
  .refine(({ type, result }) => type !== 'range' || rangeText.test(result), {
    path: ['result'],
    error: 'Must be written as <5, >=5 or 2-4 for the type range.',
  })
  .refine(({ min_range_value: min, max_range_value: max }) => typeof min !== 'number' || typeof max !== 'number' || min <= max, {
    path: ['max_range_value'],
    error: 'Must not be less than min_range_value.',
  })
  .meta({ id: 'NewResult' })
export type NewResult = z.output<typeof NewResult>

export const NewMissingResult = z
  .object({ ...measurementName, inferred_failure_type: z.enum(failureTypes).default('unknown_failure'), note: remark })
  .refine(isNamed, nameRequired)
  .meta({ id: 'NewMissingResult' })
export type NewMissingResult = z.output<typeof NewMissingResult>

export const NewResults = z
  .object({
    status: z.enum(reportStatuses),
    collected_at: RecentIn.nullish(),
    received_at: RecentIn.nullish(),
    reported_at: RecentIn.nullish(),
    results: z.array(NewResult).max(500, 'Must have at most 500 results.'),
    missing_results: z.array(NewMissingResult).max(500, 'Must have at most 500 missing results.').default([]),
    notes: remark,
  })
  .refine(({ results, missing_results }) => results.length + missing_results.length > 0, {
    path: ['results'],
    error: 'Send at least one entry in results or missing_results.',
  })
  .meta({ id: 'NewResults' })
export type NewResults = z.output<typeof NewResults>
