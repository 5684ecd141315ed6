import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import { stateOf } from '../matching/rules-match.ts'
import { type LoadedOrder, loadOrders } from '../orders/reading/present.ts'
import { listDocuments, openPdfs, restoredResults } from './documents.ts'
import { valuesOf } from './queue.ts'
import { loadReview, openStoredReview } from './reviews.ts'
import { type ComparedOrder, compareWith, criticalFirst } from './rules-compare.ts'
import * as store from './store.ts'

type DocumentKey = { raw_result_id: string; document: number }

/** A result with each of its candidates side by side, for the reviewer. Orders of erased users are left out. */
export async function compareUnmatchedResult(app: App, { team_id }: TeamCaller, id: string) {
  const { result, document } = await loadReview(app, team_id, id)
  const ids = document.candidates.map(({ order_id }) => order_id)
  const orders = new Map((await loadOrders(app, team_id, ids)).map((order) => [order.id, order]))
  const known = document.candidates.flatMap((candidate) => {
    const order = orders.get(candidate.order_id)
    return order ? [{ candidate, order }] : []
  })
  const users = known.map(({ order }) => order.user_id)
  const { patient, number, account } = document
  const tests = result.markers.map(({ name, provider_id }) => name ?? provider_id ?? '').filter(Boolean)
  const reported = { patient, number, account, lab: result.lab.name, tests }
  const comparisons = await Promise.all(
    known.map(async ({ candidate, order }) => compareWith(reported, candidate, await comparedOrder(app, order), users)),
  )
  const values = await valuesOf(app, await restoredResults(document.received, null), patient)
  return { result, values: criticalFirst(values), documents: listDocuments(document.received), comparisons }
}

/** A document in the message of the lab, counted from 1. */
export async function unmatchedDocument(app: App, { team_id }: TeamCaller, { raw_result_id: id, document: n }: DocumentKey) {
  const { review, key, document } = await openStoredReview(app, team_id, id)
  const { groups } = await restoredResults(document.received, await openPdfs(key, id, await store.readPdfs(app.db, team_id, id)))
  const found = groups.flatMap(({ documents }) => documents)[n - 1]
  if (!found) throw problem('DOCUMENT_NOT_AVAILABLE', 'The result has no document with this number. Its comparison lists its `documents`.')
  return { user_id: review.user_id, bytes: found.bytes }
}

const comparedOrder = async (app: App, order: LoadedOrder): Promise<ComparedOrder> => ({
  ...order,
  state: stateOf(order),
  account: (await loadAccountNumber(app, order.lab_account_id)) ?? null,
  patient: order.document.patient_details,
})
