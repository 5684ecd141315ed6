import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { PersonalText, PersonName, personal, Safe } from '../personal.ts'
import { interpretations } from './results.ts'

export const reviewStatuses = ['matched', 'pending_customer_review', 'pending_ops_review', 'resolved'] as const
/** The decisions that a test of the sandbox can provoke. */
export const testCases = [
  'match_completed',
  'match_cancelled',
  'wrong_collection',
  'wrong_lab',
  'multiple_demo_match',
  'match_sample_id_mismatch_demo',
  'match_demo',
  'no_match',
] as const
export const decisionCodes = ['match_sample_id', ...testCases] as const
export type MatchDecisionCode = (typeof decisionCodes)[number]
export const subReasonCodes = ['lab_account_mismatch'] as const
export const resolutionActions = ['accept', 'reject', 'unsure'] as const
export type ResolutionAction = (typeof resolutionActions)[number]
export const unmatchedStatuses = ['final', 'partial'] as const

export const matchReasons = [
  'sample_id_match',
  'lab_account_mismatch',
  'matched_completed_order',
  'matched_cancelled_order',
  'invalid_collection_state',
  'demographic_mismatch',
  'demographic_match',
  'possible_wrong_lab',
  'same_lab',
  'same_user',
  'marker_overlap_exact',
  'marker_overlap_partial',
  'marker_overlap_none',
] as const
export type MatchReason = (typeof matchReasons)[number]

const UnmatchedCandidate = z
  .object({
    candidate_type: openEnum(['provenance_order', 'order_option']).describe(
      'provenance_order: the order with the number in the result. order_option: another order of the patient.',
    ),
    order_id: Id.nullable(),
    order_transaction_id: Id.nullable(),
    last_status: Safe.nullable(),
    confidence_level: openEnum(['high', 'medium', 'low']),
    confidence_score: z.number().nullable().describe('From 0 to 1.'),
    reasons: z.array(openEnum(matchReasons)),
    marker_overlap: z
      .object({ matched: z.int(), ordered: z.int(), reported: z.int() })
      .nullable()
      .describe('The ordered markers that the result has, all ordered markers, and the reported tests.'),
    status_context: z.object({ accepts_results: z.boolean() }).nullable(),
  })
  .meta({ id: 'MatchReviewCandidate' })
export type UnmatchedCandidate = z.output<typeof UnmatchedCandidate>

export const UnmatchedResult = z
  .object({
    id: Id,
    status: openEnum(reviewStatuses),
    decision_code: openEnum(decisionCodes),
    sub_reason_codes: z.array(openEnum(subReasonCodes)),
    reason: Safe.describe('Why the result was not filed, in one sentence.'),
    patient: z
      .object({
        first_name: PersonName.nullable(),
        last_name: PersonName.nullable(),
        dob: personal(Instant, 'date').nullable(),
        gender: PersonalText.nullable().describe('As the lab wrote it, such as F.'),
      })
      .meta({ id: 'MatchReviewPatient' })
      .nullable()
      .describe('The patient in the message of the lab.'),
    lab: z.object({ id: z.int(), name: Safe, slug: Safe }).meta({ id: 'MatchReviewLab' }),
    markers: z.array(z.object({ provider_id: Safe.nullable(), name: Safe.nullable() }).meta({ id: 'MatchReviewMarker' })),
    interpretation: openEnum(interpretations).nullable(),
    result_status: openEnum(unmatchedStatuses).nullable(),
    note: PersonalText.nullable().describe('The note of the reviewer.'),
    resolution_action: openEnum(resolutionActions).nullable(),
    resolved_user_id: Id.nullable(),
    resolved_order_id: Id.nullable(),
    allowed_actions: z.array(openEnum(resolutionActions)).describe('What can be done now.'),
    candidate_groups: z
      .array(z.object({ user_id: Id.nullable(), candidates: z.array(UnmatchedCandidate) }).meta({ id: 'MatchReviewCandidateGroup' }))
      .describe('Orders that the result may belong to, by patient. The best match is first.'),
    created_at: Instant,
    updated_at: Instant,
    reviewed_at: Instant.nullable(),
  })
  .meta({ id: 'UnmatchedResult' })

export type UnmatchedResultTestCase = (typeof testCases)[number]
export const orderSources = ['managed', 'provided'] as const

export const UnmatchedResultTestRun = z
  .object({
    run_id: Id,
    status: openEnum(['queued', 'running', 'succeeded', 'failed']),
    stage: openEnum([
      ...(['queued', 'validating', 'selecting_configuration', 'creating_orders', 'transitioning_orders', 'writing_result'] as const),
      ...(['matching_result', 'verifying_review', 'succeeded', 'failed'] as const),
    ]),
    case: openEnum(testCases),
    order_source: openEnum(orderSources),
    result_status: openEnum(unmatchedStatuses),
    orders: z.record(
      Safe,
      z.object({ order_id: Id, user_id: Id, order_transaction_id: Id }).meta({ id: 'UnmatchedResultTestOrderArtifact' }),
    ),
    raw_result_id: Id.nullable(),
    error: z.object({ code: Safe, message: Safe }).meta({ id: 'UnmatchedResultTestFailure' }).nullable(),
    created_at: Instant,
    updated_at: Instant,
    started_at: Instant.nullable(),
    completed_at: Instant.nullable(),
  })
  .meta({ id: 'UnmatchedResultTestRun' })
export type UnmatchedResultTestRun = z.output<typeof UnmatchedResultTestRun>
