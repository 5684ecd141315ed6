import type { z } from 'zod'
import type { AcceptUnmatchedResult } from '../../contract/labs/unmatched-results.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import { forgetReceived } from '../hl7/inbox/forget.ts'
import { recordOn } from '../matching/record.ts'
import { stateOf } from '../matching/rules-match.ts'
import { recreateForResult } from '../orders/progress/redraw.ts'
import { type LoadedOrder, loadOrders, lockOrder, presentOrder } from '../orders/reading/present.ts'
import { openPdfs, type ReviewDocument, restoredResults, sealPdfs, sealReview } from './documents.ts'
import { lockReviewable, saveReview } from './reviews.ts'
import { scoreOf } from './rules-candidates.ts'
import { checkNote, takesResult } from './rules-compare.ts'
import * as store from './store.ts'

type Body = z.output<typeof AcceptUnmatchedResult>

/** Files the result on the order that a person chose, or on a recreation of it, and returns that order. */
export const acceptUnmatchedResult = (app: App, { team_id }: TeamCaller, id: string, body: Body) =>
  inTransaction(app, async (app) => {
    const { review, document, key } = await lockReviewable(app, team_id, id, 'accept')
    const chosen = await chooseOrder(app, team_id, document, body)
    if (chosen.lab_id !== review.lab_id)
      throw problem(
        'ORDER_OF_ANOTHER_LAB',
        'The order was placed at another lab. Import an order of the lab of the result, and accept it there.',
      )
    const order = await acceptingOrder(app, chosen, document)
    const isSame = document.candidates.some(({ order_id, is_patient }) => is_patient && order_id === chosen.id)
    checkNote(document.patient, chosen.document.patient_details, { note: body.note, isSame })
    const pdfs = await openPdfs(key, id, await store.readPdfs(app.db, team_id, id))
    const restored = await restoredResults(document.received, pdfs)
    const { order: updated } = await recordOn(app, order, restored, body.completes_order ?? false)
    const at = app.now()
    // From now on the result is data of the user, so erasing the user erases it.
    const sealed = sealReview(order.key, id, { ...document, note: body.note ?? document.note })
    const accepted = { status: 'resolved', resolution_action: 'accept', user_id: order.user_id, order_id: order.id }
    await saveReview(
      app,
      { ...review, ...accepted, sealed, updated_at: at, reviewed_at: at },
      { documents_sealed: await sealPdfs(order.key, id, pdfs) },
    )
    await forgetReceived(app, review.lab_id, review.message_ref)
    return presentOrder(app, updated)
  })

async function chooseOrder(app: AppInTransaction, team_id: string, document: ReviewDocument, { order_id, user_id }: Body) {
  if (user_id) await requireUser(app, team_id, user_id)
  if (!order_id) return bestOrder(app, team_id, document, user_id)
  const order = await lockOrder(app, team_id, order_id)
  if (user_id && order.user_id !== user_id) throw invalid(['body', 'order_id'], 'Must be an order of the user in user_id.')
  return order
}

/** The best candidate of the user: one that takes results, if there is one. */
async function bestOrder(app: AppInTransaction, team_id: string, { candidates }: ReviewDocument, user_id: string | null | undefined) {
  if (!user_id) throw invalid(['body', 'order_id'], 'Send order_id or user_id.')
  const best = candidates.filter(({ is_lab }) => is_lab).sort((a, b) => scoreOf(b) - scoreOf(a))
  const ids = best.map(({ order_id }) => order_id)
  const orders = (await loadOrders(app, team_id, ids)).filter((order) => order.user_id === user_id)
  const chosen = orders.find((order) => stateOf(order) === 'open') ?? orders[0]
  if (!chosen) throw problem('UNMATCHED_ORDER_REQUIRED', 'No candidate is an order of this user at the lab. Send the order_id.')
  return lockOrder(app, team_id, chosen.id)
}

/** An order that ended, or is complete with another specimen, gets a recreation. */
async function acceptingOrder(app: AppInTransaction, order: LoadedOrder, { number, candidates }: ReviewDocument) {
  const isOwnSpecimen = candidates.some(({ order_id, is_number }) => is_number && order_id === order.id)
  if (takesResult(stateOf(order), isOwnSpecimen)) return order
  if (!order.document.patient_details)
    throw problem('UNMATCHED_ORDER_REQUIRED', 'The order is a kit without a patient. Register the kit first, then accept the result.')
  return recreateForResult(app, order, number)
}
