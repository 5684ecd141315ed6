import { createHmac } from 'node:crypto'
import { type Direction, directions } from '../../contract/labs/kits.ts'
import type { Shipment } from '../../contract/labs/orders.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { deriveSecret } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import type { Label } from './couriers.ts'
import * as rules from './rules.ts'
import * as store from './store-couriers.ts'

const emptyShipment = {
  outbound_tracking_number: null,
  outbound_tracking_url: null,
  inbound_tracking_number: null,
  inbound_tracking_url: null,
  outbound_courier: null,
  inbound_courier: null,
  notes: null,
}

export type ShipmentFields = { [K in keyof Omit<Shipment, 'id' | 'created_at' | 'updated_at'>]?: Shipment[K] | undefined }

/** The shipment of an order with some fields changed. */
export function mergeShipment({ document, id }: LoadedOrder, fields: ShipmentFields, at: string): Shipment {
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return { id, created_at: at, ...emptyShipment, ...document.shipment, ...known, updated_at: at }
}

/** The fields of a shipment that a label sets. */
export const fieldsOfLabel = (direction: Direction, { name, number, url }: Label): ShipmentFields => ({
  [`${direction}_tracking_number`]: number,
  [`${direction}_tracking_url`]: url,
  [`${direction}_courier`]: name,
})

/** A keyed hash for finding the order of a tracking number without storing the number in clear text. */
export async function numberHash(app: App, team_id: string, courier: string, number: string) {
  const secret = deriveSecret(await teamSealingKey(app, team_id), 'tracking numbers')
  return createHmac('sha256', secret).update(`${courier} ${number}`).digest()
}

/** Records that a parcel belongs to an order; returns false if another order has its number. */
export async function claimParcel(app: AppInTransaction, { team_id, id: order_id }: LoadedOrder, direction: Direction, label: ParcelLabel) {
  const number_hash = await numberHash(app, team_id, label.courier, label.number)
  const holder = await store.putParcel(app.db, { team_id, courier: label.courier, number_hash, order_id, direction })
  return holder === order_id
}

type ParcelLabel = Pick<Label, 'courier' | 'number'>

/** Claims the parcels of a shipment that a lab reports, if its courier is one of the team's. */
export async function claimReportedParcels(app: AppInTransaction, order: LoadedOrder, shipment: Shipment) {
  const couriers = await store.listCouriers(app.db, order.team_id)
  for (const direction of directions) {
    const number = normalNumber(shipment[`${direction}_tracking_number`])
    const named = shipment[`${direction}_courier`]
    const courier = couriers.find(({ code, name }) => named === code || named === name)
    if (!number || !courier) continue
    if (!(await claimParcel(app, order, direction, { courier: courier.code, number }))) throw rules.trackingNumberTaken()
  }
}

/** Printed numbers have spaces and dashes that scanners leave out. */
const normalNumber = (number: string | null) => number?.replaceAll(/[ -]/g, '').toUpperCase()

/** The page of a parcel. */
export const trackingUrl = (template: string | null, number: string) => template?.replaceAll('{number}', encodeURIComponent(number)) ?? null
