import { z } from 'zod'
import { DayOrInstant, hasWords, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, personal, Safe, safe } from '../personal.ts'
import { OrderTransaction } from './orders.ts'
import { mediaTypeOf } from './result-documents.ts'
import { labResults, ResultsMetadata } from './results.ts'

/** A single line of text that a person can read in the order in which it is written. */
const Line = (max: number) =>
  z
    .string()
    .trim()
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u, 'Must be a single line of text without hidden controls.')
    .min(1, 'Must not be empty.')
    .max(max, `Must have at most ${max} characters.`)
    .refine((text) => !text || hasWords(text), 'Must contain a letter or a digit.')

const OrderId = z.object({ order_id: Id })
const TransactionId = z.object({ transaction_id: Id })
const LabResults = labResults(OrderTransaction)
const binary = { type: 'string', format: 'binary' } as const
const Pdf = z.custom<Uint8Array>().meta(binary)
/** The action also returns the patient, for the audit log. */
const PatientPdf = z
  .object({ user_id: Id, bytes: z.custom<Uint8Array>() })
  .transform(({ bytes }) => bytes)
  .meta(binary)

const CriticalResult = z
  .object({
    order_id: Id,
    result_version: z
      .int()
      .describe('The number of the latest report. To acknowledge the result, send the version that the reviewer has read.'),
    critical_version: z.int().describe('The number of the report in which a result last became critical.'),
    reported_at: Instant.describe('When the lab reported `critical_version`.'),
    acknowledged_at: Instant.nullable(),
    acknowledged_version: z.int().nullable().describe('The version of the results that the reviewer read.'),
    acknowledged_by: z
      .object({ type: openEnum(['person', 'management_key', 'team_key', 'access_token']), id: Id.nullable(), name: Safe.nullable() })
      .nullable()
      .describe('The person who signed in to the console, or the key that sent the request. Keys have no name.'),
    reviewer: z
      .object({ name: Safe, reference: Safe, role: Safe.nullable() })
      .nullable()
      .describe(
        'The person who read the result. For a person who signed in to the console, `reference` is their ID. Null if it was acknowledged before Assay recorded the reviewer.',
      ),
    note: PersonalText.nullable().describe('Who was informed.'),
  })
  .meta({ id: 'CriticalResult' })

const Reviewer = z
  .object({
    name: Line(200).describe('The name of the person who has read the result.'),
    reference: Line(200).describe('Your own ID of this person, such as a staff number.'),
    role: Line(100).nullish().describe('For example `physician`.'),
  })
  .meta({ id: 'Reviewer' })

export const CriticalAcknowledgment = z
  .object({
    result_version: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .nullish()
      .describe('Required. The version of the results that the reviewer has read: `metadata.result_version` of the results.'),
    reviewer: Reviewer.nullish().describe(
      'Required with a key or an access token. In the console, the reviewer is the person who signed in.',
    ),
    note: Text(2000).nullish().describe('Who was informed, when and how. Required in the console.'),
  })
  .meta({ id: 'CriticalAcknowledgment' })
export type CriticalAcknowledgment = z.output<typeof CriticalAcknowledgment>

const results = { auth: 'team', tag: 'Results', method: 'get', subjects: { order_id: 'path.order_id' } } as const
const document = {
  ...results,
  media: 'application/pdf',
  subjects: { user_id: 'result.user_id', order_id: 'path.order_id' },
  returns: personal(PatientPdf),
} as const
const instructions = { ...results, media: 'application/pdf', returns: safe(Pdf) } as const
const Version = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .nullish()
  .describe('The number of a report, from 1. Default: the latest. Earlier reports stay readable.')
const noResults = { 404: 'No such order in the team, or the order has no results yet.' }
const noDocument = { 404: 'No such order in the team, or the order does not have this document.' }

export const resultEndpoints = {
  getResults: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result',
    summary: 'Get the results of an order',
    subjects: { user_id: 'result.metadata.patient_id', order_id: 'path.order_id' },
    description:
      'Returns all reports of the lab combined, with the newest result of each measurement. Results are partial until metadata.status is final.',
    params: OrderId,
    query: z.object({ version: Version }),
    returns: LabResults,
    refusals: noResults,
  }),
  getResultsMetadata: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result/metadata',
    summary: 'Get the metadata of results',
    description: 'Returns the patient, physician, laboratory, dates and status without the measurements.',
    subjects: { user_id: 'result.patient_id', order_id: 'path.order_id' },
    params: OrderId,
    returns: ResultsMetadata,
    refusals: noResults,
  }),
  getResultsPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/result/pdf',
    summary: 'Get the result report as a PDF',
    description:
      'Available once the lab has sent its first report. If the report came with a PDF of the lab, returns that PDF. Otherwise Assay generates the PDF from the stored results.',
    params: OrderId,
    query: z.object({
      version: Version,
      document: z
        .int()
        .min(0)
        .max(100)
        .nullish()
        .describe('The number of the PDF of the lab, from 1. With 0, Assay generates the PDF. Default: the first one that exists.'),
    }),
    refusals: noResults,
  }),
  getResultDocument: endpoint({
    ...document,
    media: 'application/octet-stream',
    mediaOf: mediaTypeOf,
    path: '/v3/order/{order_id}/result/document/{document}',
    summary: 'Get a document of the result',
    description:
      'Returns a document of the lab report in its own format, such as PDF, RTF, TIFF, PNG, JPEG or text. The result lists the documents in `documents`.',
    params: z.object({ order_id: Id, document: z.int().min(1).max(100) }),
    query: z.object({ version: Version }),
    refusals: { 404: 'No such order in the team, or its report does not have this document.' },
  }),
  getCriticalResult: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result/critical',
    summary: 'Get the critical result of an order',
    description: 'Returns when a result became critical, who acknowledged it, and the `result_version` to acknowledge.',
    params: OrderId,
    returns: CriticalResult,
    refusals: { 404: 'No such order in the team, or none of its results was ever critical.' },
  }),
  acknowledgeCritical: endpoint({
    ...results,
    method: 'post',
    path: '/v3/order/{order_id}/result/critical/acknowledge',
    summary: 'Acknowledge a critical result',
    description:
      'Records the reviewer, the version of the results that they read, and the key that sent the request. If the result is already acknowledged, the response returns the first record unchanged. In the console, a signed-in person acknowledges the result with a note of who was informed.',
    params: OrderId,
    body: CriticalAcknowledgment.nullish(),
    returns: CriticalResult,
    refusals: {
      404: 'No such order in the team, or none of its results was ever critical.',
      409: 'There is a newer report than `result_version`. `detail.result_version` has its number.',
      422: 'The reviewer, the version or the note is missing, or a field is not valid.',
    },
  }),
  getTransactionResults: endpoint({
    ...results,
    path: '/v3/order_transaction/{transaction_id}/result',
    summary: 'Get the combined results of a transaction',
    subjects: { user_id: 'result.metadata.patient_id', transaction_id: 'path.transaction_id' },
    description: 'Returns the newest result of each measurement. A result that a redraw lacks is taken from the earlier order.',
    params: TransactionId,
    returns: LabResults,
    refusals: { 404: 'No such transaction in the team, or the transaction has no results yet.' },
  }),
  getTransactionResultsPdf: endpoint({
    ...document,
    path: '/v3/order_transaction/{transaction_id}/result/pdf',
    summary: 'Get the combined result report as a PDF',
    subjects: { user_id: 'result.user_id', transaction_id: 'path.transaction_id' },
    params: TransactionId,
    refusals: { 404: 'No such transaction in the team, or the transaction has no results yet.' },
  }),
  getRequisitionPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/requisition/pdf',
    summary: 'Get the requisition as a PDF',
    description: 'Available once the order reaches `requisition_created`. Imported orders have none.',
    params: OrderId,
    refusals: noDocument,
  }),
  getLabelsPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/labels/pdf',
    summary: 'Get specimen labels as a PDF',
    description: 'The order needs a sample_id and a patient.',
    params: OrderId,
    query: z.object({
      number_of_labels: z.int().min(1).max(50).default(3),
      collection_date: DayOrInstant.describe("Printed on the labels as a date in the patient's time zone."),
    }),
    refusals: noDocument,
  }),
  getCollectionInstructionPdf: endpoint({
    ...instructions,
    path: '/v3/order/{order_id}/collection_instruction_pdf',
    summary: 'Get the collection instructions of an order as a PDF',
    params: OrderId,
    refusals: noDocument,
  }),
  getAbnPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/abn_pdf',
    summary: 'Get the advance beneficiary notice as a PDF',
    description:
      'Only orders with `has_abn` have one. The PDF is not form CMS-R-131. If Original Medicare requires an ABN, give the patient that form.',
    params: OrderId,
    refusals: noDocument,
  }),
  getLabTestInstructionPdf: endpoint({
    ...instructions,
    tag: 'Catalog',
    path: '/v3/lab_test/{lab_test_id}/collection_instruction_pdf',
    summary: 'Get the collection instructions of a lab test as a PDF',
    subjects: {},
    params: z.object({ lab_test_id: Id }),
    refusals: { 404: 'Neither the catalog nor the team has this lab test.' },
  }),
}
