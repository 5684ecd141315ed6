import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import { endConnection } from '../connections/actions.ts'
import { endPulls } from '../data/backfill.ts'

/** Disconnects a source. Its data stays. */
export const disconnectSource = (app: App, { team_id }: TeamCaller, user_id: string, provider: SourceSlug) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id)
    const connection = await endConnection(app, { team_id, user_id }, provider)
    await endPulls(app, connection, { status: 'failure', error_details: 'non_retriable_error' })
    return { success: true }
  })
