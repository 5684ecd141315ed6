import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import { stateOf } from '../hl7/filing/rules-match.ts'
import { type LoadedOrder, loadOrders } from '../orders/reading/present.ts'
import { restoredResults } from './documents.ts'
import { valuesOf } from './queue.ts'
import { loadReview } from './reviews.ts'
import { type ComparedOrder, compareWith, criticalFirst } from './rules-compare.ts'

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
  return { result, values: criticalFirst(values), comparisons }
}

const comparedOrder = async (app: App, order: LoadedOrder): Promise<ComparedOrder> => ({
  ...order,
  state: stateOf(order),
  account: (await loadAccountNumber(app, order.lab_account_id)) ?? null,
  patient: order.document.patient_details,
})
