import { isSourceType } from '../../contract/wearables/series.ts'
import type { App } from '../../platform/app.ts'
import { recordDevice } from '../connections/devices.ts'
import type { IncomingPush } from './incoming-push.ts'

/** Resolves the devices of a push to their IDs, each once. */
export function newDeviceResolver(app: App, { user, provider }: IncomingPush) {
  const ids = new Map<string, string>()
  return async (device_model: string, type: string) => {
    // The type of some samples is what was measured, which says nothing about the device.
    const source_type = isSourceType(type) ? type : 'unknown'
    const name = `${source_type} ${device_model}`
    const id = ids.get(name) ?? (await recordDevice(app, user, provider, { source_type, device_model }))
    ids.set(name, id)
    return id
  }
}
