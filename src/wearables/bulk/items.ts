import { isSource, type SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { Problem } from '../../platform/problem.ts'
import { open } from '../../platform/sealing/seal.ts'
import { later, SECOND } from '../../platform/time.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { requireUser, type UserRow, unwrapUserKey } from '../../tenants/users/actions.ts'
import { type Account, accountHash } from '../connections/account.ts'
import { connectionFor, isAccountTaken, linkConnection } from '../connections/actions.ts'
import { scheduleFeeds } from '../ingestion/schedule.ts'
import { cloudOf } from '../providers/clouds.ts'
import { pullAll, schedulePull } from '../pulls/actions.ts'
import { adapterFor } from '../pulls/adapters.ts'
import { clientFor } from '../team-sources/oauth-client.ts'
import type { BulkItem, BulkOperation } from './store.ts'

/** A connection from another service. */
export type ImportedConnection = {
  user_id: string
  access_token: string
  refresh_token: string
  provider_id: string
  expires_at: number
  oauth_scopes?: string[] | null | undefined
}

export const bulkItemAssociatedData = (op_id: string, n: number) => `bulk_items.sealed.${op_id}.${n}`

/** Processes one item and returns whether it succeeded. A failure affects this user only. */
export async function processItem(app: App, { team_id, type, provider }: BulkOperation, item: BulkItem): Promise<boolean> {
  if (!isSource(provider)) return false
  try {
    const teamApp = await withTeamClock(app, team_id)
    const user = await requireUser(teamApp, team_id, item.user_id)
    return await (type === 'link_bulk_import' ? importConnection(teamApp, user, provider, item) : pullUser(teamApp, user, provider))
  } catch (error) {
    if (!(error instanceof Problem)) app.log.warn({ type, provider, code: (error as { code?: string }).code }, 'bulk operation item failed')
    return false
  }
}

async function importConnection(app: App, user: UserRow, provider: SourceSlug, { op_id, n, sealed }: BulkItem) {
  if (!sealed) return false
  const imported = open<ImportedConnection>(await unwrapUserKey(app, user), bulkItemAssociatedData(op_id, n), sealed)
  const account = await accountOf(app, user.team_id, provider, imported)
  const expires_at = imported.expires_at ? later(new Date(0).toISOString(), imported.expires_at * SECOND) : null
  return inTransaction(app, async (app) => {
    const hash = await accountHash(app, user.team_id, provider, account)
    if (hash && (await isAccountTaken(app, user, provider, hash))) return false
    await scheduleFeeds(app, await linkConnection(app, user, provider, { kind: 'oauth', account, expires_at }))
    return true
  })
}

async function accountOf(app: App, team_id: string, provider: SourceSlug, imported: ImportedConnection): Promise<Account> {
  const { access_token, refresh_token, provider_id, oauth_scopes } = imported
  const needs = (await clientFor(app, team_id, provider))?.needs ?? {}
  const grant = oauth_scopes ? { grant: { granted: oauth_scopes, denied: [], needs } } : {}
  // An export has empty strings for missing values.
  return { external_user_id: provider_id || null, tokens: { access_token, refresh_token: refresh_token || null }, ...grant }
}

async function pullUser(app: App, user: UserRow, provider: SourceSlug) {
  const connection = await connectionFor(app, user, provider)
  if (connection?.status !== 'connected') return false
  if (connection.kind === 'oauth') {
    await scheduleFeeds(app, connection)
    return cloudOf(provider) !== undefined
  }
  if (!adapterFor(connection).pull) return false
  return (await pullAll(app, await schedulePull(app, connection))) !== 'failure'
}
