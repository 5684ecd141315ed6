import { isSourceType } from '../../contract/wearables/series.ts'
import type { App } from '../../platform/app.ts'
import { noteDevice } from '../connections/devices.ts'
import type { IncomingPush } from './incoming-push.ts'

/** The ids of the devices that a delivery names; each is looked for once. */
export function deviceIds(app: App, { user, provider }: IncomingPush) {
  const known = new Map<string, string>()
  return async (device_model: string, type: string) => {
    // The type of a sample may be what was measured instead, which says nothing about the device.
    const source_type = isSourceType(type) ? type : 'unknown'
    const name = `${source_type} ${device_model}`
    const id = known.get(name) ?? (await noteDevice(app, user, provider, { source_type, device_model }))
    known.set(name, id)
    return id
  }
}
