import { createHash } from 'node:crypto'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { isSource, sources } from '../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { openAccount } from '../connections/account.ts'
import type { Connection } from '../connections/actions.ts'
import { beginPulls } from '../data/backfill.ts'
import type { Cloud, Feed } from '../providers/cloud.ts'
import { cloudOf } from '../providers/clouds.ts'
import { clientFor } from '../team-sources/oauth-client.ts'
import { loadPreferredDays } from '../team-sources/preferences.ts'
import * as clients from './applications/store.ts'
import { ENROLLMENT, feedsOf } from './feeds.ts'
import * as store from './store.ts'

/** The job that reads feeds. */
export const PULL_FEEDS = 'pull feeds of clouds'

/**
 * Schedules new data and the history of a connection in the caller's transaction. Sources without an adapter have none.
 * An unfinished history continues if the account is the same as before.
 */
export const scheduleFeeds = (app: App, connection: Connection, isSameAccount = false) =>
  inTransaction(app, async (app) => {
    const { team_id, user_id, provider, id: connection_id, kind } = connection
    const cloud = cloudOf(provider)
    if (kind !== 'oauth' || !cloud || !isSource(provider)) return
    const feeds = await grantedFeeds(app, connection, cloud)
    const now = app.wall()
    const daysOf = await historyDays(app, team_id, provider)
    const client = await clientFor(app, team_id, provider)
    // Without an application, the feeds wait until the team has one.
    const due_at = client ? now : null
    await store.deleteJobs(
      app.db,
      team_id,
      connection_id,
      feeds.map(([name]) => name),
    )
    const rows = feeds.map(([feed, row]) => {
      const history_end = later(now, -row.trailingDays * DAY)
      const history_from = later(now, -daysOf(row) * DAY)
      return {
        ...{ team_id, connection_id, feed, user_id, provider, due_at, live_due_at: now, history_found: '{}' },
        ...(history_from < history_end ? { history_from, history_to: history_end, history_end } : noHistory),
      }
    })
    if (rows.length) await store.scheduleJobs(app.db, rows, isSameAccount)
    await beginPulls(
      app,
      connection,
      feeds.flatMap(([, feed]) => (daysOf(feed) > feed.trailingDays ? feed.resources : [])),
    )
    if (client) await clients.putClient(app.db, team_id, provider, hashOf(client.client_id), now)
  })

/** Lets the feeds of a team use changed credentials now: those that wait after a failure or that had no application too. */
export async function changeApplication(app: AppInTransaction, team_id: string, provider: string) {
  const client = isSource(provider) && cloudOf(provider) ? await clientFor(app, team_id, provider) : undefined
  if (!client) return
  const now = app.wall()
  const client_hash = hashOf(client.client_id)
  const changed = await clients.changeClient(app.db, { team_id, provider }, client_hash, now)
  const resumed = await store.resumeJobs(app.db, { team_id, provider, feed: ENROLLMENT }, now)
  // Feeds of an import, or without an application so far, are read only for a recorded one.
  if (resumed.numUpdatedRows && !changed.numUpdatedRows) await clients.putClient(app.db, team_id, provider, client_hash, now)
}

const noHistory = { history_from: null, history_to: null, history_end: null }

const hashOf = (client_id: string) => createHash('sha256').update(client_id).digest()

/** The feeds whose scopes the user granted. All of them if the scopes are unknown. */
export async function grantedFeeds(app: App, connection: Connection, cloud: Cloud): Promise<[string, Feed][]> {
  const granted = await grantOf(app, connection)
  return Object.entries(feedsOf(cloud)).filter(([, { scopes }]) => scopes.every(granted))
}

/** Whether the user granted a scope. */
export async function grantOf(app: App, connection: Connection) {
  const key = await userSealingKey(app, connection.team_id, connection.user_id)
  const granted = key && openAccount(key, connection).grant?.granted
  return (scope: string) => granted === undefined || granted.includes(scope)
}

/** The days of history of a feed: the most that the team prefers for one of its resources, and no more than the source has. */
async function historyDays(app: App, team_id: string, provider: SourceSlug) {
  const preferred = await loadPreferredDays(app, team_id, provider)
  const { backfill_days } = sources[provider]
  return ({ resources, maxDays = backfill_days }: Feed) =>
    Math.min(maxDays, Math.max(0, ...resources.map((resource) => preferred(resource) ?? backfill_days)))
}
