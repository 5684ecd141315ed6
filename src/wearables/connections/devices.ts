import { createHmac, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { emit } from '../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { deriveSecret, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { requireUser, type UserRow, unwrapUserKey } from '../../tenants/users/actions.ts'

import * as store from './store-devices.ts'

/** The description of a device by its source. `device_id` is the serial number of the manufacturer. */
export type DeviceDescription = {
  app_id: string | null
  device_manufacturer: string | null
  device_model: string | null
  device_version: string | null
  device_id: string | null
}
type ReportedDevice = { source_type: string } & Partial<DeviceDescription>

export async function listDevices(app: App, { team_id }: TeamCaller, user_id: string) {
  const key = await unwrapUserKey(app, await requireUser(app, team_id, user_id))
  return (await store.listDevices(app.db, team_id, user_id)).map((row) => presentDevice(key, row))
}

export async function getDevice(app: App, { team_id }: TeamCaller, user_id: string, device_id: string) {
  const key = await unwrapUserKey(app, await requireUser(app, team_id, user_id))
  const row = await store.findDevice(app.db, team_id, user_id, device_id)
  if (!row) throw problem('DEVICE_NOT_FOUND', 'The user has no such device. GET /v2/user/{user_id}/device lists their devices.')
  return presentDevice(key, row)
}

/** Stores a device, emits an event if it is new or changed, and returns its ID. */
export async function recordDevice(app: App, user: UserRow, provider: SourceSlug, { source_type, ...reported }: ReportedDevice) {
  const { team_id, user_id } = user
  const key = await unwrapUserKey(app, user)
  const description = { ...emptyDescription, ...reported }
  const fingerprint = fingerprintOf(key, description)
  // An unknown source type does not overwrite a known one.
  const typeOf = (row: store.DeviceRow) => (source_type === 'unknown' ? row.source_type : source_type)
  const isSame = (row: store.DeviceRow) =>
    row.source_type === typeOf(row) && isDeepStrictEqual(open<DeviceDescription>(key, associatedData(row.id), row.sealed), description)
  const found = await store.findMatchingDevice(app.db, team_id, user_id, provider, fingerprint)
  if (found && isSame(found)) return found.id
  return inTransaction(app, async (app) => {
    const id = randomUUID()
    const now = app.now()
    const row = { id, team_id, user_id, provider, source_type, fingerprint, created_at: now, updated_at: now }
    const inserted = await store.insertDevice(app.db, { ...row, sealed: seal(key, associatedData(id), description) })
    if (inserted) return emitDevice(app, user, key, 'provider.device.created', inserted)
    const existing = await store.lockMatchingDevice(app.db, team_id, user_id, provider, fingerprint)
    if (!existing) throw new Error('The device was deleted while it was being stored')
    if (isSame(existing)) return existing.id
    const change = { source_type: typeOf(existing), sealed: seal(key, associatedData(existing.id), description), updated_at: now }
    return emitDevice(app, user, key, 'provider.device.updated', await store.updateDevice(app.db, existing, change))
  })
}

const emptyDescription: DeviceDescription = {
  app_id: null,
  device_manufacturer: null,
  device_model: null,
  device_version: null,
  device_id: null,
}

/** A new software version does not make a new device. */
export function fingerprintOf(key: SealingKey, { device_version: _, ...rest }: DeviceDescription) {
  const { app_id, device_manufacturer, device_model, device_id } = rest
  const secret = deriveSecret(key, 'devices')
  return createHmac('sha256', secret)
    .update(JSON.stringify([app_id, device_manufacturer, device_model, device_id]))
    .digest()
}

type DeviceEvent = 'provider.device.created' | 'provider.device.updated'

async function emitDevice(
  app: AppInTransaction,
  { team_id, user_id, client_user_id }: UserRow,
  key: SealingKey,
  event_type: DeviceEvent,
  row: store.DeviceRow,
) {
  const data = presentDevice(key, row)
  await emit(app, key, { team_id, user_id, client_user_id, event_type, key: `device ${row.id}`, at: row.updated_at, data })
  return row.id
}

const presentDevice = (key: SealingKey, { id, user_id, provider, source_type, sealed }: store.DeviceRow) => ({
  ...{ id, user_id, provider, source_type },
  ...open<DeviceDescription>(key, associatedData(id), sealed),
})

const associatedData = (id: string) => `devices.sealed.${id}`
