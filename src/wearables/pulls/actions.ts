import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import { type Connection, endConnection } from '../connections/actions.ts'
import { claimDuePull, planPull } from '../connections/due-pulls.ts'
import { beginPulls, endPulls } from '../data/backfill.ts'
import { reasonOf } from '../ingestion/failure-reason.ts'
import type { FailureReason } from '../ingestion/rules.ts'
import { adapterFor } from './adapters.ts'
import * as rules from './rules.ts'

/** Longer than any pull takes. After a crash the job continues when the lease ends. */
const LEASE_MS = 2 * MINUTE

/** Schedules a historical pull in the caller's transaction, so that a job continues it if the caller crashes. */
export const schedulePull = (app: App, connection: Connection) =>
  inTransaction(app, async (app) => {
    const scheduled = await planPull(app, connection, { pull_tries: 1, pull_due_at: later(app.wall(), LEASE_MS) })
    await beginPulls(app, connection, adapterFor(connection).history ?? [])
    return scheduled ?? connection
  })

/** Pulls history and new data. New data does not depend on history, and a job retries temporary failures. */
export async function pullAll(app: App, connection: Connection) {
  const history = await attemptPull(app, connection, 'history')
  const recent = await attemptPull(app, connection, 'new')
  const { waitMs } = history.status === 'success' ? recent : history
  await inTransaction(app, async (app) => {
    await planPull(app, connection, { pull_due_at: waitMs === null ? null : later(app.wall(), waitMs) })
    await endPulls(app, connection, history)
  })
  return history.status
}

async function attemptPull(app: App, connection: Connection, range: 'history' | 'new'): Promise<rules.PullOutcome> {
  const { renew, pull } = adapterFor(connection)
  const failed = (reason: FailureReason) => rules.afterFailure(connection.pull_tries, reason)
  try {
    const access = (await renew?.(app, connection)) ?? 'ready'
    if (access === 'unavailable') return failed('provider_unavailable')
    if (access === 'broken' || !pull) return failed('non_retriable_error')
    await pull(app, connection, range)
    return rules.pullSucceeded
  } catch (error) {
    const reason = reasonOf(error)
    app.log.warn({ provider: connection.provider, range, reason, code: (error as { code?: string }).code }, 'source pull failed')
    return failed(reason)
  }
}

/** Continues one due pull. Returns whether there can be more. */
export async function pullDue(app: App): Promise<boolean> {
  const connection = await claimDuePull(app, LEASE_MS)
  if (!connection) return false
  const teamApp = await withTeamClock(app, connection.team_id)
  await beginPulls(teamApp, connection, [])
  await pullAll(teamApp, connection)
  return true
}

/** Disconnects a source. Its data stays. */
export const disconnectSource = (app: App, { team_id }: TeamCaller, user_id: string, provider: SourceSlug) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id)
    const connection = await endConnection(app, { team_id, user_id }, provider)
    await endPulls(app, connection, { status: 'failure', error_details: 'non_retriable_error' })
    return { success: true }
  })
