import { z } from 'zod'
import { Day, Id, Instant, InstantIn, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { personal, Safe, safe } from '../personal.ts'
import { OrderTransaction } from './orders.ts'
import { labResults, ResultsMetadata } from './results.ts'

const OrderId = z.object({ order_id: Id })
const TransactionId = z.object({ transaction_id: Id })
const LabResults = labResults(OrderTransaction)
/** The bytes of a document. */
const Pdf = z.custom<Uint8Array>().meta({ type: 'string', format: 'binary' })

const CriticalResult = z
  .object({
    order_id: Id,
    result_version: z.int().describe('The report in which something last became critical.'),
    reported_at: Instant,
    acknowledged_at: Instant.nullable(),
    acknowledged_by: z
      .object({ type: openEnum(['person', 'management_key', 'team_key', 'access_token']), id: Id.nullable(), name: Safe.nullable() })
      .nullable(),
  })
  .meta({ id: 'CriticalResult' })

const results = { auth: 'team', tag: 'Results', method: 'get', subjects: { order_id: 'path.order_id' } } as const
const document = { ...results, media: 'application/pdf', returns: personal(Pdf) } as const
const instructions = { ...results, media: 'application/pdf', returns: safe(Pdf) } as const
const noResults = { 404: 'No such order in the team, or no results of it yet.' }
const noOrder = { 404: 'No such order in the team, or it has no such document.' }

export const resultEndpoints = {
  getResults: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result',
    summary: 'Get the results of an order',
    subjects: { user_id: 'result.metadata.patient_id', order_id: 'path.order_id' },
    description: 'The latest report: partial until metadata.status says final. Earlier reports are kept.',
    params: OrderId,
    returns: LabResults,
    refusals: noResults,
  }),
  getResultsMetadata: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result/metadata',
    summary: 'Get what the results of an order are about',
    subjects: { user_id: 'result.patient_id', order_id: 'path.order_id' },
    params: OrderId,
    returns: ResultsMetadata,
    refusals: noResults,
  }),
  getResultsPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/result/pdf',
    summary: 'Get the result report as a PDF',
    params: OrderId,
    refusals: noResults,
  }),
  getCriticalResult: endpoint({
    ...results,
    path: '/v3/order/{order_id}/result/critical',
    summary: 'Whether something in the results became critical, and who has seen to it',
    params: OrderId,
    returns: CriticalResult,
    refusals: { 404: 'No such order in the team, or nothing in its results ever was critical.' },
  }),
  acknowledgeCritical: endpoint({
    ...results,
    method: 'post',
    path: '/v3/order/{order_id}/result/critical/acknowledge',
    summary: 'Say that a critical result was seen to',
    description: 'Once for each report in which something became critical; a repetition answers who was first.',
    params: OrderId,
    returns: CriticalResult,
    refusals: { 404: 'No such order in the team, or nothing in its results ever was critical.' },
  }),
  getTransactionResults: endpoint({
    ...results,
    path: '/v3/order_transaction/{transaction_id}/result',
    summary: 'Get the combined results of a transaction',
    subjects: { user_id: 'result.metadata.patient_id', transaction_id: 'path.transaction_id' },
    description: 'Of each measurement the newest; what an earlier order has and a redraw lacks stays.',
    params: TransactionId,
    returns: LabResults,
    refusals: { 404: 'No such transaction in the team, or no results of it yet.' },
  }),
  getTransactionResultsPdf: endpoint({
    ...document,
    path: '/v3/order_transaction/{transaction_id}/result/pdf',
    summary: 'Get the combined result report as a PDF',
    subjects: { transaction_id: 'path.transaction_id' },
    params: TransactionId,
    refusals: { 404: 'No such transaction in the team, or no results of it yet.' },
  }),
  getRequisitionPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/requisition/pdf',
    summary: 'Get the requisition as a PDF',
    params: OrderId,
    refusals: noOrder,
  }),
  getLabelsPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/labels/pdf',
    summary: 'Get tube labels as a PDF',
    params: OrderId,
    query: z.object({
      number_of_labels: z.int().min(1).max(50).default(3),
      collection_date: z.union([Day, InstantIn], { error: 'Must be a date (YYYY-MM-DD) or a date-time with a zone.' }),
    }),
    refusals: noOrder,
  }),
  getCollectionInstructionPdf: endpoint({
    ...instructions,
    path: '/v3/order/{order_id}/collection_instruction_pdf',
    summary: 'Get the collection instructions of an order as a PDF',
    params: OrderId,
    refusals: noOrder,
  }),
  getAbnPdf: endpoint({
    ...document,
    path: '/v3/order/{order_id}/abn_pdf',
    summary: 'Get the advance beneficiary notice as a PDF',
    description:
      'Only orders with `has_abn` have one. The PDF is not form CMS-R-131. Where Original Medicare requires an ABN, give the patient that form.',
    params: OrderId,
    refusals: noOrder,
  }),
  getLabTestInstructionPdf: endpoint({
    ...instructions,
    tag: 'Catalogue',
    path: '/v3/lab_test/{lab_test_id}/collection_instruction_pdf',
    summary: 'Get the collection instructions of a lab test as a PDF',
    subjects: {},
    params: z.object({ lab_test_id: Id }),
    refusals: { 404: 'No such lab test that the team can see.' },
  }),
}
