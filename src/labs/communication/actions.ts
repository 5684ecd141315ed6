import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { lockOrder, requireOrder } from '../orders/reading/present.ts'
import * as store from './store.ts'

export async function getCommunicationSettings(app: App, { team_id }: TeamCaller, order_id: string) {
  await requireOrder(app, team_id, order_id)
  return { order_id, sms_enabled: await store.findSmsSetting(app.db, team_id, order_id) }
}

export const patchCommunicationSettings = (app: App, { team_id }: TeamCaller, order_id: string, sms_enabled: boolean) =>
  inTransaction(app, async (app) => {
    await lockOrder(app, team_id, order_id)
    await store.putSmsSetting(app.db, { team_id, order_id, sms_enabled, updated_at: app.wall() })
    return { order_id, sms_enabled }
  })
