import type { z } from 'zod'
import { type Direction, directions, type KitLimits, type NewShipment } from '../../contract/labs/kits.ts'
import { newSecret, parseSecret } from '../../delivery/webhooks/sign.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { publicUrl } from '../../platform/config.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { orderReply } from '../orders/placing/insert.ts'
import { changeOrder } from '../orders/progress/advance.ts'
import { type LoadedOrder, lockOrder } from '../orders/reading/present.ts'
import type { Label } from './couriers.ts'
import { loadLimits } from './limits.ts'
import * as rules from './rules.ts'
import { claimParcel, fieldsOfLabel, mergeShipment, type ShipmentFields, trackingUrl } from './shipments.ts'
import * as store from './store.ts'
import * as couriers from './store-couriers.ts'

type NewCourier = { name: string; format: string; tracking_url?: string | null | undefined; secret?: string | null | undefined }

export const listCouriers = async (app: App, { team_id }: TeamCaller) => ({
  couriers: (await couriers.listCouriers(app.db, team_id)).map((row) => presentCourier(app, row)),
})

/** Without a secret in the request, a courier keeps the one it has. */
export const putCourier = (app: App, { team_id }: TeamCaller, code: string, body: NewCourier) =>
  inTransaction(app, async (app) => {
    const key = await teamSealingKey(app, team_id)
    const before = await couriers.findCourier(app.db, team_id, code)
    const secret = body.secret ?? (before ? openSecret(key, before) : newSecret())
    parseSecret(secret)
    const { name, format, tracking_url = null } = body
    return { ...presentCourier(app, await writeCourier(app, team_id, { code, name, format, tracking_url }, secret)), secret }
  })

type CourierFields = Pick<couriers.CourierRow, 'code' | 'name' | 'format' | 'tracking_url'>

export async function writeCourier(app: AppInTransaction, team_id: string, fields: CourierFields, secret: string) {
  const sealed = seal(await teamSealingKey(app, team_id), associatedData(fields.code), { secret })
  const row = { ...fields, team_id, updated_at: app.wall(), sealed }
  await couriers.putCourier(app.db, row)
  return row
}

export async function deleteCourier(app: App, { team_id }: TeamCaller, code: string) {
  if (!(await couriers.deleteCourier(app.db, team_id, code))) throw rules.courierNotFound()
}

type PresentableCourier = Omit<couriers.CourierRow, 'sealed'>

const presentCourier = ({ config }: App, { team_id, code, name, format, tracking_url, updated_at }: PresentableCourier) => ({
  ...{ code, name, format, tracking_url, updated_at },
  webhook_url: `${publicUrl(config)}/couriers/${team_id}/${code}/tracking`,
})

const associatedData = (code: string) => `couriers.sealed.${code}`

export const openSecret = (key: SealingKey, { code, sealed }: Pick<couriers.CourierRow, 'code' | 'sealed'>) =>
  open<{ secret: string }>(key, associatedData(code), sealed).secret

export const getKitLimits = (app: App, { team_id }: TeamCaller) => loadLimits(app, team_id)

export const putKitLimits = (app: App, { team_id }: TeamCaller, limits: KitLimits) =>
  inTransaction(app, async (app) => {
    await store.putLimits(app.db, { team_id, ...limits, updated_at: app.wall() })
    for (const leg of ['to_customer', 'with_customer', 'to_lab'] as const)
      await store.setLegLimit(app.db, team_id, leg, rules.limitOf(limits, leg))
    return limits
  })

/** Records the label to the patient and the return label, so that scans of their parcels move the order. */
export const putShipment = (app: App, { team_id }: TeamCaller, order_id: string, body: z.output<typeof NewShipment>) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    rules.checkIsKit(order)
    let fields: ShipmentFields = { notes: body.notes }
    for (const direction of directions) {
      const label = body[direction]
      if (label) fields = { ...fields, ...fieldsOfLabel(direction, await claimLabel(app, order, direction, label)) }
    }
    const updated = await changeOrder(app, order, { document: { shipment: mergeShipment(order, fields, app.now()) } })
    return orderReply(app, updated, 'shipment recorded')
  })

type NewLabel = { courier: string; tracking_number: string }

async function claimLabel(app: AppInTransaction, order: LoadedOrder, direction: Direction, label: NewLabel): Promise<Label> {
  const courier = await couriers.findCourier(app.db, order.team_id, label.courier)
  if (!courier) throw rules.unknownCourier()
  const { code, name, tracking_url } = courier
  const number = label.tracking_number
  if (!(await claimParcel(app, order, direction, { courier: code, number }))) throw rules.trackingNumberTaken()
  return { courier: code, name, number, url: trackingUrl(tracking_url, number) }
}
