import { isSource } from '../../../contract/tenants/sources.ts'
import type { App } from '../../../platform/app.ts'
import { DAY, later, MINUTE } from '../../../platform/time.ts'
import { hasConnections } from '../../connections/actions.ts'
import { claimFirst, MAX_CANDIDATES } from '../../connections/claim.ts'
import { openCloud } from '../../providers/call.ts'
import { isCloudError } from '../../providers/cloud.ts'
import { cloudOf } from '../../providers/clouds.ts'
import { clientFor } from '../../team-sources/oauth-client.ts'
import { callbackOf } from '../callback.ts'
import { countCall } from '../counters.ts'
import * as clients from './store.ts'

export { searchSubscriptions } from './store.ts'

const CHECK_EVERY_MS = DAY
const RETRY_AFTER_MS = 10 * MINUTE

/** Checks one due subscription. Returns whether there can be more. */
export async function subscribeDue(app: App): Promise<boolean> {
  const now = app.wall()
  const due = await clients.findDueSubscriptions(app.db, now, MAX_CANDIDATES)
  const claimed = await claimFirst(due, (candidate) => clients.claimSubscription(app.db, candidate, now, later(now, RETRY_AFTER_MS)))
  if (!claimed) return false
  const subscribe_error = await subscribe(app, claimed)
  const hasFailed = subscribe_error !== null && subscribe_error !== clients.UNUSED
  const subscribe_at = later(now, hasFailed ? RETRY_AFTER_MS : CHECK_EVERY_MS)
  await clients.updateClient(app.db, claimed, { subscribe_at, subscribe_error })
  return true
}

/** Creates or renews the subscription of an application, or ends it after the last connection. Returns why it failed. */
async function subscribe(app: App, shared: clients.CloudClient) {
  const { team_id, provider } = shared
  const subscribe = cloudOf(provider)?.subscribe
  const client = isSource(provider) ? await clientFor(app, team_id, provider) : undefined
  if (!subscribe || !client?.api_url || !isSource(provider)) return null
  const cloud = openCloud(app, provider, client, { observe: ({ status }) => countCall(provider, status) })
  try {
    const wanted = await isInUse(app, shared)
    await subscribe(cloud.call, { ...(await callbackOf(app, team_id, provider)), client, wanted, now: app.wall() })
    return wanted ? null : clients.UNUSED
  } catch (error) {
    if (!isCloudError(error)) throw error
    app.log.warn({ team_id, provider, fault: error.fault }, 'subscription to a source failed')
    return error.fault
  } finally {
    await cloud.close()
  }
}

/** Whether a team that shares the application has connections. */
async function isInUse(app: App, shared: clients.CloudClient) {
  for (const { team_id, provider } of await clients.listSharing(app.db, shared))
    if (isSource(provider) && (await hasConnections(app, team_id, provider))) return true
  return false
}
