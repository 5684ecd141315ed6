import type { Direction, ScanStatus } from '../../contract/labs/kits.ts'
import { statusOfStep } from '../../contract/labs/lifecycle.ts'
import { emit } from '../../delivery/events/emit.ts'
import { parseSecret, verify } from '../../delivery/webhooks/sign.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../platform/app.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { advanceOrder, type Change } from '../orders/progress/advance.ts'
import { recreateWithSample } from '../orders/progress/redraw.ts'
import { type LoadedOrder, lockOrder } from '../orders/reading/present.ts'
import { isCancelled } from '../orders/rules.ts'
import { openSecret } from './actions.ts'
import { courierOf } from './couriers.ts'
import * as rules from './rules.ts'
import { numberHash } from './shipments.ts'
import { claimAlert } from './store.ts'
import * as store from './store-couriers.ts'

type Scanned = { direction: Direction; status: ScanStatus }

/** Moves the order to the step that a scan means. Returns the order, or the new one that continues it. */
export const recordScan = (app: AppInTransaction, order: LoadedOrder, { direction, status }: Scanned, change: Change = {}) =>
  recordStep(app, order, rules.stepOfScan(direction, status), direction, change)

export async function recordStep(
  app: AppInTransaction,
  order: LoadedOrder,
  step: string,
  direction: Direction,
  change: Change = {},
): Promise<LoadedOrder> {
  const reaction = rules.reactionTo(order, step, direction)
  if (reaction === 'advance') return advanceOrder(app, order, step, change)
  if (reaction === 'recreate') return continueKit(app, order, step)
  if (reaction === 'alert') await alertOnce(app, order)
  return order
}

/** The kit of an order that ended turned up, so a new order with the same specimen and parcels continues. There is one such order. */
export async function continueKit(app: AppInTransaction, order: LoadedOrder, step: string): Promise<LoadedOrder> {
  const continued = order.siblings.find(({ parent_id, origin }) => parent_id === order.id && origin === 'recreation')
  if (continued) return recordStep(app, await lockOrder(app, order.team_id, continued.id), step, 'inbound')
  const recreated = await recreateWithSample(app, order)
  await store.moveParcels(app.db, order.team_id, order.id, recreated.id)
  return advanceOrder(app, recreated, step, { document: { shipment: order.document.shipment } })
}

/** Couriers repeat their scans, so a step of a kit has one alert. */
async function alertOnce(app: AppInTransaction, order: LoadedOrder) {
  const { team_id, id: order_id, last_event_at: since } = order
  const leg = rules.legOf(order) ?? 'canceled'
  const isFirst = await claimAlert(app.db, { team_id, order_id, leg, since, due_at: null, alerted: true, reported_at: app.now() })
  if (isFirst) await emitAlert(app, order, isCancelled(order) ? 'arrived_after_cancellation' : 'delayed')
}

export type AlertReason = 'overdue' | 'delayed' | 'arrived_after_cancellation'

export const emitAlert = (app: AppInTransaction, order: LoadedOrder, reason: AlertReason, days: number | null = null) =>
  emit(app, order.key, {
    ...{ team_id: order.team_id, user_id: order.user_id, order_id: order.id, client_user_id: order.client_user_id },
    event_type: 'labtest.kit.alert',
    key: `order:${order.id}`,
    data: {
      ...{ order_id: order.id, sample_id: order.sample_id, team_id: order.team_id, user_id: order.user_id },
      ...{ reason, status: statusOfStep(order.method, order.low_level), since: order.last_event_at, limit_days: days },
      created_at: app.now(),
    },
    at: app.now(),
  })

export type TrackingRequest = { headers: Record<string, string | undefined>; body: Buffer }
export type TrackingResponse = { status: 200 | 401 | 404 | 422; body: object }

/** Covers an unknown team or courier too, so that the response does not reveal which exist. */
export const refusedScan: TrackingResponse = {
  status: 401,
  body: { detail: 'The signature is not valid. Sign the body as a Standard Webhook, with the secret of the courier and the current time.' },
}
const unreadable: TrackingResponse = {
  status: 422,
  body: {
    detail:
      'Send JSON with tracking_number and status. The status is in_transit, out_for_delivery, delivered, delayed, undeliverable or lost.',
  },
}
const noParcel: TrackingResponse = {
  status: 404,
  body: { detail: 'No order has a parcel with this tracking number. Record its label first.' },
}

/** Verifies a tracking notification of a courier and records its scan. A late or repeated scan changes nothing. */
export async function receiveTracking(
  app: App,
  team_id: string,
  code: string,
  { headers, body }: TrackingRequest,
): Promise<TrackingResponse> {
  const courier = await store.findCourier(app.db, team_id, code)
  if (!courier) return refusedScan
  const secret = parseSecret(openSecret(await teamSealingKey(app, team_id), courier))
  if (verify(secret, headers, body, app.wall()) !== 'verified') return refusedScan
  const scan = courierOf(courier.format).read(jsonOf(body))
  if (!scan) return unreadable
  const number_hash = await numberHash(app, team_id, code, scan.tracking_number)
  const team = await store.findClock(app.db, team_id)
  const parcel = await store.findParcel(app.db, { team_id, courier: code, number_hash })
  if (!parcel || !team) return noParcel
  await inTransaction(onTeamClock(app, team), async (app) => {
    const order = await lockOrder(app, team_id, parcel.order_id)
    return recordScan(app, order, { direction: parcel.direction, status: scan.status })
  })
  return { status: 200, body: { success: true } }
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
