import { isEnd } from '../../../contract/labs/lifecycle.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { problem } from '../../../platform/problem.ts'
import { insertOrder, newOrder } from '../placing/insert.ts'
import { type LoadedOrder, lockOrder, requireOrder } from '../reading/present.ts'
import * as rules from '../rules.ts'
import { claimSample, freeSample } from '../samples.ts'
import { moveSample } from '../store-samples.ts'
import { advanceOrder, type Change } from './advance.ts'
import { sendOrder } from './dispatch.ts'

/** The lab needs another specimen: this order ends, and a new order joins its transaction. */
export async function offerRedraw(app: AppInTransaction, order: LoadedOrder, change: Change = {}): Promise<LoadedOrder> {
  rules.checkRedraw(order)
  const offered = await advanceOrder(app, order, 'redraw_available', change)
  await insertFollowUp(app, offered, 'redraw')
  return offered
}

/**
 * The lab has results for an order that ended, so a new order, already sent to the lab, accepts them.
 * There is one such order per ended order; a repeated call returns it.
 */
export async function recreateOrder(app: AppInTransaction, order: LoadedOrder): Promise<LoadedOrder> {
  if (!isEnd(order.method, order.low_level))
    throw problem('ORDER_GOES_ON', `The order is in ${order.low_level} and still accepts results. Report them on this order.`)
  const recreated = order.siblings.find((sibling) => sibling.parent_id === order.id && sibling.origin === 'recreation')
  if (recreated) return requireOrder(app, order.team_id, recreated.id)
  return sendOrder(app, await insertFollowUp(app, order, 'recreation'))
}

/** The specimen of an order that ended turned up, so a new order has its sample_id. */
export async function recreateWithSample(app: AppInTransaction, order: LoadedOrder): Promise<LoadedOrder> {
  const { sample_id } = order
  const recreated = await insertFollowUp(app, order, 'recreation', { sample_id })
  if (sample_id) await moveSample(app.db, { lab_id: order.lab_id, sample_id }, recreated.id)
  return sendOrder(app, recreated)
}

/**
 * A result exists that belongs to an order, but the order cannot take it. A new order of its transaction does; the lab, which has
 * done the test already, does not get it. It has the number of the result, so that corrections find it.
 */
export async function recreateForResult(app: AppInTransaction, order: LoadedOrder, number: string | null): Promise<LoadedOrder> {
  const recreated = order.siblings.find((sibling) => sibling.parent_id === order.id && sibling.origin === 'recreation')
  if (recreated && !isEnd(recreated.method, recreated.low_level)) return lockOrder(app, order.team_id, recreated.id)
  const sample_id = number && (await freeSample(app, order.lab_id, number))
  const followUp = await insertFollowUp(app, order, 'recreation', { dispatch_at: null, sent_at: app.now(), sample_id })
  await claimSample(app, followUp)
  return advanceOrder(app, followUp, 'requisition_bypassed')
}

type Sent = Partial<Pick<LoadedOrder, 'dispatch_at' | 'sent_at' | 'sample_id'>>

async function insertFollowUp(app: App, parent: LoadedOrder, origin: 'redraw' | 'recreation', change: Sent = {}) {
  const now = app.now()
  const { team_id, user_id, client_user_id, strict_enums, key, document, lab_test, lab_account_id, method, zone } = parent
  const { billing_type, priority, has_abn, health_insurance_id } = parent
  const order = newOrder(
    {
      ...{ team_id, user_id, client_user_id, strict_enums, key, lab_test, lab_account_id, method, zone },
      ...{ billing_type, priority, has_abn, health_insurance_id },
      document: { ...document, shipment: null },
      registrable: parent.registrable && !document.patient_details,
      activate_by: null,
      dispatch_at: app.wall(),
      seed: `${parent.seed}/${origin}`,
      parent,
      origin,
      ...change,
    },
    now,
  )
  return insertOrder(app, order)
}
