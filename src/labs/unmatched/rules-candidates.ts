import type { MatchDecisionCode, MatchReason, UnmatchedCandidate } from '../../contract/labs/match-review.ts'

/** How an order agrees with a result, as it was when the result arrived. */
export type Candidate = {
  order_id: string
  is_number: boolean
  is_account: boolean
  is_lab: boolean
  is_patient: boolean
  is_name: boolean
  is_dob: boolean
  /** The ordered markers that the lab reported, all ordered ones, and the reported tests. */
  overlap: { matched: number; ordered: number; reported: number }
}

export type State = 'open' | 'completed' | 'ended' | 'not_collected'

type Stated = Candidate & { state: State }

type Decision = { decision_code: MatchDecisionCode; sub_reason_codes: 'lab_account_mismatch'[] }

/** Why a result does not file by itself. The best candidates are first, and of equal ones the newest. */
export function decide(candidates: Stated[]): Decision {
  const best = candidates.find(({ is_number, is_lab }) => is_number && is_lab)
  const decided = best ? decideByNumber(best) : decideByPatient(candidates.filter(({ is_patient }) => is_patient))
  return { decision_code: decided.code, sub_reason_codes: decided.by && !decided.by.is_account ? ['lab_account_mismatch'] : [] }
}

function decideByNumber(candidate: Stated): { code: MatchDecisionCode; by: Stated } {
  const byState = {
    open: 'match_sample_id',
    completed: 'match_sample_id',
    ended: 'match_cancelled',
    not_collected: 'wrong_collection',
  } as const
  return { code: candidate.is_patient ? byState[candidate.state] : 'match_sample_id_mismatch_demo', by: candidate }
}

function decideByPatient(candidates: Stated[]): { code: MatchDecisionCode; by?: Stated } {
  const atLab = candidates.filter(({ is_lab }) => is_lab)
  const open = atLab.filter(({ state }) => state === 'open')
  const [first] = open.length ? open : atLab
  if (open.length > 1) return { code: 'multiple_demo_match' }
  if (!first) return { code: candidates.length ? 'wrong_lab' : 'no_match' }
  const byState = { open: 'match_demo', completed: 'match_completed', ended: 'match_cancelled', not_collected: 'wrong_collection' } as const
  return { code: byState[first.state], by: first }
}

type Decided = { decision_code: string; sub_reason_codes: string[] }

/** One sentence per decision, for the reviewer. */
export const reasonOf = ({ decision_code, sub_reason_codes }: Decided) =>
  decision_code === 'match_sample_id' && sub_reason_codes.includes('lab_account_mismatch')
    ? 'The order number and the patient match an order of another lab account.'
    : reasons[decision_code as MatchDecisionCode]

const reasons: Record<MatchDecisionCode, string> = {
  match_sample_id: 'The order number and the patient match, but the codes of the lab identify no ordered test.',
  match_completed: 'The order number is unknown. The patient matches an order that is already complete.',
  match_cancelled: 'The result belongs to an order that was canceled or has failed.',
  wrong_collection: 'The result belongs to an order whose specimen cannot have been collected yet.',
  wrong_lab: 'The patient matches an order, but at another lab.',
  multiple_demo_match: 'The order number is unknown. The patient matches several open orders.',
  match_sample_id_mismatch_demo: 'The order number matches an order of a different patient.',
  match_demo: 'The order number is unknown. The patient matches one open order.',
  no_match: 'Neither the order number nor the patient matches an order.',
}

/** From 0 to 1. The number counts most, then the patient, then the lab and the tests. */
export function scoreOf({ is_number, is_patient, is_name, is_dob, is_lab, overlap }: Candidate): number {
  const patient = is_patient ? 0.35 : (is_name ? 0.1 : 0) + (is_dob ? 0.15 : 0)
  const tests = overlap.ordered ? (0.15 * overlap.matched) / Math.max(overlap.ordered, overlap.reported) : 0
  return Math.round(((is_number ? 0.4 : 0) + patient + (is_lab ? 0.1 : 0) + tests) * 100) / 100
}

export const confidenceOf = (score: number) => (score >= 0.75 ? 'high' : score >= 0.45 ? 'medium' : 'low')

type CandidateOrder = { id: string; user_id: string; transaction_id: string; low_level: string; state: State }

/** A candidate as it is now. `users` are the patients of the other candidates. */
export function presentCandidate(candidate: Candidate, order: CandidateOrder, users: string[]): UnmatchedCandidate {
  const score = scoreOf(candidate)
  return {
    candidate_type: candidate.is_number ? 'provenance_order' : 'order_option',
    order_id: order.id,
    order_transaction_id: order.transaction_id,
    last_status: order.low_level,
    confidence_level: confidenceOf(score),
    confidence_score: score,
    reasons: reasonsOf(candidate, order.state, users.filter((user_id) => user_id === order.user_id).length > 1),
    marker_overlap: candidate.overlap,
    status_context: { accepts_results: order.state === 'open' || order.state === 'completed' },
  }
}

function reasonsOf(candidate: Candidate, state: State, isSameUser: boolean): MatchReason[] {
  const { overlap } = candidate
  const isExact = overlap.matched > 0 && overlap.matched === overlap.ordered && overlap.matched === overlap.reported
  const list: [boolean, MatchReason][] = [
    [candidate.is_number, 'sample_id_match'],
    [!candidate.is_account, 'lab_account_mismatch'],
    [state === 'completed', 'matched_completed_order'],
    [state === 'ended', 'matched_cancelled_order'],
    [state === 'not_collected', 'invalid_collection_state'],
    [true, candidate.is_patient ? 'demographic_match' : 'demographic_mismatch'],
    [true, candidate.is_lab ? 'same_lab' : 'possible_wrong_lab'],
    [isSameUser, 'same_user'],
    [true, isExact ? 'marker_overlap_exact' : overlap.matched ? 'marker_overlap_partial' : 'marker_overlap_none'],
  ]
  return list.flatMap(([applies, reason]) => (applies ? [reason] : []))
}
