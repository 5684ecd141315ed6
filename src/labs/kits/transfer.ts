import type { KitLimits } from '../../contract/labs/kits.ts'
import { newSecret } from '../../delivery/webhooks/sign.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import { writeCourier } from './actions.ts'
import { numberHash } from './shipments.ts'
import * as store from './store.ts'
import * as couriers from './store-couriers.ts'

/** Inserts rows from a team's export into a table of this feature. */
export const insertExportedRows = (app: AppInTransaction, table: keyof typeof store.inserts, rows: JsonRow[]) =>
  store.inserts[table](app.db, rows)

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

type Shipped = { shipment?: Record<string, unknown> | null }

/** The hash of a parcel's number with the key of the team. The number is in the document of its order. */
export async function hashOfParcel(app: App, team_id: string, { courier, direction }: JsonRow, document: Shipped | undefined) {
  const number = document?.shipment?.[`${direction}_tracking_number`]
  return numberHash(app, team_id, String(courier), String(number).replaceAll(/[ -]/g, '').toUpperCase())
}
