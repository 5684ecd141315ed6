import { z } from 'zod'
import { DayOrInstant, Id, Instant, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { personal, Safe, safe } from '../personal.ts'
import { OrderTransaction } from './orders.ts'
import { labResults, ResultsMetadata } from './results.ts'

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
    result_version: z.int().describe('The number of the report in which a result last became critical.'),
    reported_at: Instant,
    acknowledged_at: Instant.nullable(),
    acknowledged_by: z
      .object({ type: openEnum(['person', 'management_key', 'team_key', 'access_token']), id: Id.nullable(), name: Safe.nullable() })
      .nullable(),
  })
  .meta({ id: 'CriticalResult' })

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
  getCriticalResult: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result/critical',
    summary: 'Get the critical result of an order',
    description: 'Returns when a result became critical and who acknowledged it.',
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
      'Records the person or key that acknowledges the result. Only the first acknowledgment of a report counts; later requests return it unchanged. A later report in which a result became critical stays open, and the response shows it.',
    params: OrderId,
    body: z
      .object({
        result_version: z
          .int()
          .min(1)
          .max(2_147_483_647)
          .nullish()
          .describe('The version of the results that was seen. Default: every version so far, also one that arrived in the meantime.'),
      })
      .meta({ id: 'CriticalAcknowledgment' })
      .nullish(),
    returns: CriticalResult,
    refusals: { 404: 'No such order in the team, or none of its results was ever critical.' },
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
