import { z } from 'zod'
import { Cursor, DayIn, Id, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { decisionCodes, orderSources, testCases, UnmatchedResult, UnmatchedResultTestRun, unmatchedStatuses } from './match-review.ts'
import { Order } from './orders.ts'
import { interpretations } from './results.ts'

const RawResultId = z.object({ raw_result_id: Id })
const Note = z.string().max(2000, 'Must have at most 2000 characters.').nullish()

export const UnmatchedResultFilter = z.object({
  limit: z.int().min(1).max(100).default(50),
  next_cursor: Cursor,
  decision_code: z.enum(decisionCodes).nullish(),
  lab_slug: Text(100).nullish(),
  status: z.enum(['pending_customer_review', 'pending_ops_review', 'resolved']).nullish(),
  created_at_start: DayIn.nullish(),
  created_at_end: DayIn.nullish().describe('The last day, included.'),
  sort: z.enum(['newest', 'critical']).default('newest').describe('critical: pending critical results first, then the newest.'),
  search_input: Text(200).nullish().describe("Words of the patient's name, or the order number."),
})

export const AcceptUnmatchedResult = z
  .object({
    user_id: Id.nullish().describe('The patient. Without order_id, the best candidate of the patient is chosen.'),
    order_id: Id.nullish().describe('The order that the result belongs to.'),
    completes_order: z
      .boolean()
      .nullish()
      .describe(
        'Whether the lab has reported everything with this result. If true, the order becomes complete, unless a value is preliminary.',
      ),
    note: Note.describe('Why the patient is the same person. Required if name, birth date or sex differ or are missing.'),
  })
  .meta({ id: 'AcceptUnmatchedResultBody' })

const ResolveUnmatchedResult = z
  .object({
    action: z
      .enum(['reject', 'unsure'])
      .describe('reject: the result belongs to no patient of the team. unsure: someone else has to decide.'),
    note: Note,
  })
  .meta({ id: 'ResolveUnmatchedResultBody' })

export const NewUnmatchedResultTest = z
  .strictObject({
    case: z.enum(testCases),
    order_source: z.enum(orderSources).describe('managed: Assay creates the users and orders. provided: you name the orders.'),
    orders: z.record(z.string().max(60), Id).nullish().describe('With order_source provided, the order of each role.'),
    result_status: z.enum(unmatchedStatuses).default('final'),
    interpretation: z.enum(interpretations).default('normal'),
    lab_test_id: Id.nullish().describe('The lab test of managed orders.'),
    wrong_lab_test_id: Id.nullish().describe('For wrong_lab: a lab test of another lab.'),
  })
  .meta({ id: 'CreateUnmatchedResultTestBody' })

const unmatched = { auth: 'team', tag: 'Unmatched results', beta: 'unmatched_results', betaStatus: 400 } as const
const notEnabled = { 400: 'The queue is not enabled for the team.' }
const noResult = { ...notEnabled, 404: 'No such result in the queue of the team, or it is no longer reviewable.' }

export const unmatchedResultEndpoints = {
  listUnmatchedResults: endpoint({
    ...unmatched,
    method: 'get',
    path: '/v3/unmatched_result',
    summary: 'List unmatched results',
    description: 'Results of a lab connection that fit no order with certainty, the newest first.',
    subjects: { raw_result_id: 'result.data[].id' },
    query: UnmatchedResultFilter,
    returns: z
      .object({ data: z.array(UnmatchedResult), next_cursor: Safe.nullable(), total: z.int() })
      .meta({ id: 'ListUnmatchedResultResponse' }),
    refusals: notEnabled,
  }),
  getUnmatchedResult: endpoint({
    ...unmatched,
    method: 'get',
    path: '/v3/unmatched_result/{raw_result_id}',
    summary: 'Get an unmatched result',
    subjects: { raw_result_id: 'path.raw_result_id' },
    params: RawResultId,
    returns: UnmatchedResult,
    refusals: noResult,
  }),
  acceptUnmatchedResult: endpoint({
    ...unmatched,
    method: 'post',
    path: '/v3/unmatched_result/{raw_result_id}/accept',
    summary: 'Accept an unmatched result',
    description:
      'Files the result on an order and returns that order. If the order has ended, or is complete with another specimen, a new order with the origin `recreation` joins its transaction and takes the result. The new order is not sent to the lab.',
    subjects: { raw_result_id: 'path.raw_result_id', order_id: 'result.id', user_id: 'result.user_id' },
    params: RawResultId,
    body: AcceptUnmatchedResult,
    returns: Order,
    refusals: { 400: 'The queue is not enabled for the team, or the order cannot take the result.', 404: noResult[404] },
  }),
  resolveUnmatchedResult: endpoint({
    ...unmatched,
    method: 'post',
    path: '/v3/unmatched_result/{raw_result_id}/resolve',
    summary: 'Resolve an unmatched result',
    description:
      'Rejects the result, or leaves it to someone else. After `unsure` the result stays in the queue as pending_ops_review, and can still be accepted or rejected.',
    subjects: { raw_result_id: 'path.raw_result_id' },
    params: RawResultId,
    body: ResolveUnmatchedResult,
    returns: UnmatchedResult,
    refusals: noResult,
  }),
  listUnmatchedResultTestCases: endpoint({
    ...unmatched,
    method: 'get',
    path: '/v3/unmatched_result_test/case',
    summary: 'List the test cases',
    description: 'The cases that a test can produce, with the orders that each needs and their statuses.',
    sandbox: true,
    subjects: {},
    returns: z
      .object({
        data: z.array(
          z
            .object({
              case: Safe,
              order_roles: z.array(Safe),
              required_statuses: z.record(Safe, Safe),
              lab_constraints: z.array(Safe),
            })
            .meta({ id: 'UnmatchedResultTestCaseDefinition' }),
        ),
      })
      .meta({ id: 'ListUnmatchedResultTestCasesResponse' }),
    refusals: notEnabled,
  }),
  createUnmatchedResultTest: endpoint({
    ...unmatched,
    method: 'post',
    path: '/v3/unmatched_result_test',
    summary: 'Create an unmatched-result test',
    description:
      'Puts a result that leads to the decision of the case into the queue of the team. The run has ended when the response arrives. Requires an X-Idempotency-Key.',
    sandbox: true,
    idempotent: true,
    status: 202,
    subjects: { run_id: 'result.run_id', order_id: 'result.order_ids', user_id: 'result.user_id' },
    headers: z.object({ 'x-idempotency-key': Text(255) }),
    body: NewUnmatchedResultTest,
    returns: z.object({ run_id: Id, status: UnmatchedResultTestRun.shape.status }).meta({ id: 'CreateUnmatchedResultTestResponse' }),
    refusals: { ...notEnabled, 409: 'The key was used with another body.' },
  }),
  getUnmatchedResultTest: endpoint({
    ...unmatched,
    method: 'get',
    path: '/v3/unmatched_result_test/{run_id}',
    summary: 'Get an unmatched-result test',
    sandbox: true,
    subjects: { run_id: 'path.run_id' },
    params: z.object({ run_id: Id }),
    returns: UnmatchedResultTestRun,
    refusals: { ...notEnabled, 404: 'No such test in the team.' },
  }),
}
