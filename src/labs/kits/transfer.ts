import type { KitLimits } from '../../contract/labs/kits.ts'
import { newSecret } from '../../delivery/webhooks/sign.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { byteaText, type JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Import, Part } from '../../tenants/users/transfer-part.ts'
import { writeCourier } from './actions.ts'
import { numberHash } from './shipments.ts'
import * as store from './store.ts'
import * as couriers from './store-couriers.ts'

export const parts: Part[] = [
  { table: 'kits', through: { column: 'order_id', table: 'orders' }, ids: ['order_id'], order: ['order_id'], adapt: withoutCopies },
  {
    table: 'parcels',
    through: { column: 'order_id', table: 'orders' },
    ids: ['order_id'],
    order: ['courier', 'number_hash'],
    drop: ['number_hash'],
    adapt: withoutCopies,
    rehash: rehashParcel,
  },
]

/** A copied order is history: nobody waits for its kit. */
function withoutCopies(rows: JsonRow[], { isCopy }: Import) {
  return isCopy ? [] : rows
}

type Shipped = { shipment?: Record<string, unknown> | null }

/** The number of a parcel is in the document of its order. */
async function rehashParcel({ order_id, courier, direction }: JsonRow, { app, team_id, rowsOf }: Import) {
  const document = rowsOf('orders').find(({ id }) => id === order_id)?.['sealed'] as Shipped | undefined
  const number = String(document?.shipment?.[`${direction}_tracking_number`])
  return { number_hash: byteaText(await numberHash(app, team_id, String(courier), number.replaceAll(/[ -]/g, '').toUpperCase())) }
}

type KitSettings = {
  kit_limits: KitLimits | null
  couriers: { code: string; name: string; format: string; tracking_url: string | null }[]
}

/** The limits and couriers of a team, without the secrets. */
export async function exportSettings({ db }: App, team_id: string): Promise<KitSettings> {
  const rows = await couriers.listCouriers(db, team_id)
  return {
    kit_limits: (await store.findLimits(db, team_id)) ?? null,
    couriers: rows.map(({ code, name, format, tracking_url }) => ({ code, name, format, tracking_url })),
  }
}

/** Writes what the team does not have. Couriers get new secrets. */
export async function importSettings(app: AppInTransaction, team_id: string, { kit_limits, couriers: exported }: KitSettings) {
  if (kit_limits && !(await store.findLimits(app.db, team_id)))
    await store.putLimits(app.db, { team_id, ...kit_limits, updated_at: app.wall() })
  for (const courier of exported)
    if (!(await couriers.findCourier(app.db, team_id, courier.code))) await writeCourier(app, team_id, courier, newSecret())
}
