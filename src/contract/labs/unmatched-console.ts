import { z } from 'zod'
import { Cursor, Id, Instant, openEnum } from '../common.ts'
import { endpoint, ofOperator } from '../endpoint.ts'
import { PersonalText, personal, Safe } from '../personal.ts'
import { matchReasons, UnmatchedResult, unmatchedStatuses } from './match-review.ts'
import { mediaTypeOf } from './result-documents.ts'
import { interpretations, ResultDocument } from './results.ts'

const agrees = z.boolean().describe('Whether the result and the order agree.')

const Comparison = z
  .object({
    order_id: Id,
    user_id: Id,
    test: Safe,
    status: Safe,
    ordered_at: Instant,
    score: z.number().describe('From 0 to 1.'),
    confidence: openEnum(['high', 'medium', 'low']),
    reasons: z.array(openEnum(matchReasons)),
    files_on: openEnum(['order', 'recreation', 'nothing']).describe(
      'What accepting the result with this order does. order: the order gets it. recreation: the order has ended or has other results, so a new order gets it. nothing: the order is at another lab.',
    ),
    order: z.array(
      z.object({
        field: openEnum(['order_number', 'lab', 'lab_account', 'tests']),
        reported: Safe.nullable().describe('In the message of the lab.'),
        ordered: Safe.nullable().describe('In the order.'),
        agrees,
      }),
    ),
    patient: z.array(
      z.object({
        field: openEnum(['last_name', 'first_name', 'birth_date', 'sex']),
        reported: PersonalText.nullable(),
        ordered: PersonalText.nullable(),
        agrees,
      }),
    ),
    needs_note: z.boolean().describe('Whether accepting the result needs a note, because a field of the patient differs or is missing.'),
  })
  .meta({ id: 'MatchReviewComparison' })
export type Comparison = z.output<typeof Comparison>

const ReportedValue = z
  .object({
    name: Safe,
    result: PersonalText.describe('As the lab wrote it.'),
    unit: Safe.nullable(),
    reference_range: Safe.nullable(),
    interpretation: openEnum(interpretations),
    notes: PersonalText.nullable(),
  })
  .meta({ id: 'MatchReviewValue' })

/** The action also returns the user of an accepted result, for the audit log. */
const ReportedDocument = z
  .object({ user_id: Id.nullable(), bytes: z.custom<Uint8Array>() })
  .transform(({ bytes }) => bytes)
  .meta({ type: 'string', format: 'binary' })

const UnassignedResult = z
  .object({
    id: Id,
    lab: z.object({ id: z.int(), name: Safe, slug: Safe }).meta({ id: 'UnassignedResultLab' }),
    result_status: openEnum(unmatchedStatuses),
    interpretation: openEnum(interpretations),
    message_control_id: Safe.describe('MSH-10 of the message.'),
    account: Safe.nullable().describe('The lab account in the message.'),
    order_number: Safe.nullable(),
    created_at: Instant,
    teams: z
      .array(z.object({ team_id: Id, name: Safe, reasons: z.array(openEnum(['holds_account', 'placed_order'])) }))
      .describe('The teams that it may belong to. placed_order: an order of the team has the number.'),
  })
  .meta({ id: 'UnassignedResult' })

const review = { auth: 'team', tag: 'Console', beta: 'unmatched_results', betaStatus: 400, method: 'get' } as const

export const unmatchedConsoleEndpoints = {
  compareUnmatchedResult: endpoint({
    ...review,
    path: '/console/unmatched_results/{raw_result_id}',
    summary: 'Compare an unmatched result with its candidates',
    description:
      'The result with each candidate side by side, the best match first, and its values, the critical ones first. Without `x-assay-reveal`, the console masks names, birth dates and values.',
    subjects: { raw_result_id: 'path.raw_result_id', user_id: 'result.comparisons[].user_id', order_id: 'result.comparisons[].order_id' },
    params: z.object({ raw_result_id: Id }),
    returns: z
      .object({
        result: UnmatchedResult,
        values: z.array(ReportedValue),
        documents: z.array(ResultDocument).describe('Documents in the message of the lab.'),
        comparisons: z.array(Comparison),
      })
      .meta({ id: 'ComparedUnmatchedResult' }),
    refusals: { 400: 'The queue is not enabled for the team.', 404: 'No such result in the queue of the team.' },
  }),
  getUnmatchedDocument: endpoint({
    ...review,
    media: 'application/octet-stream',
    mediaOf: mediaTypeOf,
    path: '/console/unmatched_results/{raw_result_id}/document/{document}',
    summary: 'Get a document of an unmatched result',
    description: 'Returns a document of the lab in its own format, before someone accepts the result. The comparison lists the documents.',
    subjects: { raw_result_id: 'path.raw_result_id', user_id: 'result.user_id' },
    params: z.object({ raw_result_id: Id, document: z.int().min(1).max(100) }),
    returns: personal(ReportedDocument),
    refusals: {
      400: 'The queue is not enabled for the team.',
      404: 'No such result in the queue of the team, or it does not have this document.',
    },
  }),
  listUnassignedResults: endpoint({
    ...ofOperator,
    method: 'get',
    path: '/console/operator/unmatched_results',
    summary: 'List unmatched results without a team',
    description:
      'Results whose lab account belongs to no team or to several, without the patient and the values. Critical results are first, then the oldest.',
    subjects: {},
    query: z.object({ limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }),
    returns: z
      .object({
        results: z.array(UnassignedResult),
        next_cursor: Safe.nullable(),
        teams: z.array(z.object({ team_id: Id, name: Safe })).describe('Every team of the deployment.'),
      })
      .meta({ id: 'UnassignedResultList' }),
  }),
  assignUnassignedResult: endpoint({
    ...ofOperator,
    method: 'post',
    path: '/console/operator/unmatched_results/{unassigned_result_id}/assign',
    summary: 'Assign an unmatched result to a team',
    description: 'Moves the result to the queue of the team, which can then read it and accept or reject it.',
    subjects: { unassigned_result_id: 'path.unassigned_result_id', team_id: 'body.team_id', raw_result_id: 'result.raw_result_id' },
    params: z.object({ unassigned_result_id: Id }),
    body: z.object({ team_id: Id }).meta({ id: 'AssignUnassignedResultBody' }),
    returns: z.object({ id: Id, team_id: Id, raw_result_id: Id }).meta({ id: 'AssignedResult' }),
    refusals: { 404: 'No such result, or no such team.' },
  }),
}
