import { setTimeout as pause } from 'node:timers/promises'
import { type App, inTransaction, withoutRequestRows } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { SECOND } from '../../platform/time.ts'
import { type Connection, connectionsOfUser } from '../connections/actions.ts'
import { takeRefresh } from '../connections/refreshes.ts'
import { type Adapter, adapterFor } from './adapters.ts'
import * as rules from './rules.ts'

type Result = 'refreshed' | 'in_progress' | 'failed'

/** Fetches new data from the sources of a user and waits up to the timeout. */
export async function refreshUser(app: App, { team_id }: TeamCaller, user_id: string, timeoutSeconds: number) {
  const bareApp = withoutRequestRows(app)
  const connections = await inTransaction(bareApp, async (app) => {
    await takeRefresh(app, team_id, user_id)
    return connectionsOfUser(app, { team_id, user_id })
  })
  const refreshable = connections.filter((connection) => connection.status === 'connected' && canRefresh(adapterFor(connection)))
  const results = await Promise.all(refreshable.map((connection) => withTimeout(refresh(bareApp, connection), timeoutSeconds)))
  const providersWith = (result: Result) => refreshable.filter((_, i) => results[i] === result).map(({ provider }) => provider)
  const failed_sources = providersWith('failed')
  if (refreshable.length && failed_sources.length === refreshable.length) throw rules.refreshFailed(user_id, failed_sources)
  return {
    success: true as const,
    user_id,
    refreshed_sources: providersWith('refreshed'),
    in_progress_sources: providersWith('in_progress'),
    failed_sources,
  }
}

const canRefresh = ({ renew, pull }: Adapter) => Boolean(renew ?? pull)

/** Work that takes longer continues in the background. */
const withTimeout = (work: Promise<Result>, seconds: number) =>
  Promise.race([work, pause(seconds * SECOND, 'in_progress' as const, { ref: false })])

async function refresh(app: App, connection: Connection): Promise<Result> {
  const { renew, pull } = adapterFor(connection)
  try {
    const access = (await renew?.(app, connection)) ?? 'ready'
    if (access !== 'ready') return 'failed'
    await pull?.(app, connection, 'new')
    return 'refreshed'
  } catch (error) {
    app.log.warn({ provider: connection.provider, code: (error as { code?: string }).code }, 'source refresh failed')
    return 'failed'
  }
}
