import type { z } from 'zod'
import type { ResolutionAction } from '../../contract/labs/match-review.ts'
import type { UnmatchedResultFilter } from '../../contract/labs/unmatched-results.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { isInstant, isRankedInstant, pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { queryTerms } from '../../platform/sealing/blind-index.ts'
import { teamSealingKey, userSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { stateOf } from '../matching/rules-match.ts'
import { type LoadedOrder, loadOrders } from '../orders/reading/present.ts'
import { openReview, type ReviewDocument, sealReview } from './documents.ts'
import { emitReview, resolvedTo } from './queue.ts'
import { presentCandidate, reasonOf } from './rules-candidates.ts'
import * as store from './store.ts'

type Query = z.output<typeof UnmatchedResultFilter>

export async function listUnmatchedResults(app: App, { team_id }: TeamCaller, query: Query) {
  const isRanked = query.sort === 'critical'
  const page = pageAfter(query.next_cursor, query.limit, isRanked ? isRankedInstant : isInstant)
  const team = await teamSealingKey(app, team_id)
  const filter = {
    ...query,
    created_from: query.created_at_start ? `${query.created_at_start}T00:00:00.000Z` : undefined,
    created_before: query.created_at_end ? later(`${query.created_at_end}T00:00:00.000Z`, DAY) : undefined,
    terms: query.search_input ? orNoMatch(queryTerms(team, query.search_input)) : undefined,
  }
  const list = isRanked ? store.listReviewsByRank : store.listReviews
  const [found, total] = await Promise.all([list(app.db, team_id, filter, page), store.countReviews(app.db, team_id, filter)])
  const { rows, next_cursor } = pageOf(found, page, ({ rank = '', created_at, id }) => ({ at: `${rank}${created_at}`, id }))
  return { data: await presentAll(app, team_id, rows), next_cursor, total }
}

/** A text without a searchable word matches nothing instead of everything. */
const orNoMatch = (terms: string[]) => (terms.length ? terms : ['\u0001'])

export const getUnmatchedResult = async (app: App, { team_id }: TeamCaller, id: string) => (await loadReview(app, team_id, id)).result

/** A result as the API presents it, and its encrypted part. */
export async function loadReview(app: App, team_id: string, id: string) {
  const { review, document } = await openStoredReview(app, team_id, id)
  return { result: await presentReview(app, team_id, review), document }
}

export async function openStoredReview(app: App, team_id: string, id: string) {
  const review = await store.findReview(app.db, team_id, id)
  if (!review) throw reviewNotFound()
  const key = await keyOf(app, team_id, review)
  return { review, key, document: openReview(key, id, review.sealed) }
}

const reviewNotFound = () =>
  problem('UNMATCHED_RESULT_NOT_FOUND', 'The team has no reviewable result with this ID. List them with GET /v3/unmatched_result.')

/** Rejects a result, or leaves the decision to someone else. */
export const resolveUnmatchedResult = (
  app: App,
  { team_id }: TeamCaller,
  id: string,
  { action, note }: { action: 'reject' | 'unsure'; note?: string | null | undefined },
) =>
  inTransaction(app, async (app) => {
    const { review, document, key } = await lockReviewable(app, team_id, id, action)
    const at = app.now()
    const changed = {
      ...review,
      status: action === 'reject' ? 'resolved' : 'pending_ops_review',
      resolution_action: action,
      sealed: sealReview(key, id, { ...document, note: note ?? document.note }),
      updated_at: at,
      reviewed_at: at,
    }
    await saveReview(app, changed)
    return presentReview(app, team_id, changed)
  })

/** Locks a review on which the action is allowed. */
export async function lockReviewable(app: AppInTransaction, team_id: string, id: string, action: ResolutionAction) {
  await store.lockReview(app.db, team_id, id)
  const opened = await openStoredReview(app, team_id, id)
  if (!allowedActions(opened.review.status).includes(action)) throw reviewNotFound()
  return opened
}

/** `pdfs` are those of the result with another key. Without them, they stay as they are. */
export async function saveReview(app: AppInTransaction, review: store.LoadedReview, pdfs?: { documents_sealed: Buffer | null }) {
  const { team_id, id, status, resolution_action, user_id, order_id, sealed, updated_at, reviewed_at } = review
  await store.updateReview(app.db, team_id, id, { status, resolution_action, user_id, order_id, sealed, updated_at, reviewed_at, ...pdfs })
  await emitReview(app, 'labtest.match_review.updated', review)
}

/** Deletes the queue of a team in the caller's transaction. */
export const deleteReviewsOf = (app: AppInTransaction, team_id: string) => store.deleteReviewsOf(app.db, team_id)

const allowedActions = (status: string): ResolutionAction[] =>
  ({ pending_customer_review: ['accept', 'reject', 'unsure'] as const, pending_ops_review: ['accept', 'reject'] as const })[
    status
  ]?.slice() ?? []

const presentReview = async (app: App, team_id: string, review: store.LoadedReview) =>
  (await presentAll(app, team_id, [review]))[0] as Awaited<ReturnType<typeof presentAll>>[number]

/** The orders of all candidates are loaded with one query. */
async function presentAll(app: App, team_id: string, reviews: store.LoadedReview[]) {
  const opened = []
  for (const review of reviews) opened.push({ review, document: await openDocument(app, team_id, review) })
  const ids = [...new Set(opened.flatMap(({ document }) => document.candidates.map(({ order_id }) => order_id)))]
  const orders = new Map((await loadOrders(app, team_id, ids)).map((order) => [order.id, order]))
  return opened.map(({ review, document }) => present(review, document, orders))
}

const openDocument = async (app: App, team_id: string, review: store.LoadedReview) =>
  openReview(await keyOf(app, team_id, review), review.id, review.sealed)

async function keyOf(app: App, team_id: string, { user_id }: store.LoadedReview) {
  const key = user_id ? await userSealingKey(app, team_id, user_id) : await teamSealingKey(app, team_id)
  if (!key) throw reviewNotFound()
  return key
}

function present(review: store.LoadedReview, document: ReviewDocument, orders: Map<string, LoadedOrder>) {
  const { first_name, last_name, dob, sex } = document.patient
  return {
    ...review,
    reason: reasonOf(review),
    patient: {
      first_name: first_name || null,
      last_name: last_name || null,
      dob: dob && `${dob}T00:00:00+00:00`,
      gender: sex,
    },
    lab: { id: review.lab_id, name: review.lab_name, slug: review.lab_slug },
    markers: document.received.groups.map(({ code }) => ({ provider_id: code.local ?? code.loinc, name: code.name })),
    note: document.note,
    ...resolvedTo(review),
    allowed_actions: allowedActions(review.status),
    candidate_groups: groupsOf(document, orders),
  }
}

/** Candidates by patient, the best first. Orders of erased users are left out. */
function groupsOf({ candidates }: ReviewDocument, orders: Map<string, LoadedOrder>) {
  const known = candidates.flatMap((candidate) => {
    const order = orders.get(candidate.order_id)
    return order ? [{ candidate, order: { ...order, state: stateOf(order) } }] : []
  })
  const users = known.map(({ order }) => order.user_id)
  return [...Map.groupBy(known, ({ order }) => order.user_id)].map(([user_id, group]) => ({
    user_id,
    candidates: group.map(({ candidate, order }) => presentCandidate(candidate, order, users)),
  }))
}
