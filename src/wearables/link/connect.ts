import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { auditRow } from '../../tenants/audit/actions.ts'
import { lockUser } from '../../tenants/users/actions.ts'
import { type Account, accountHash } from '../connections/account.ts'
import { connectionFor, isAccountTaken, type Kind, linkConnection } from '../connections/actions.ts'
import { scheduleFeeds } from '../ingestion/schedule.ts'
import * as rules from './rules.ts'
import type { LinkToken, LiveToken } from './store.ts'
import { callerOf, consumeToken } from './tokens.ts'

type LinkedAccount = { kind: Kind; account: Account; expires_at?: string | null }

/** Connects the account and consumes the token in one transaction. */
export const finishLink = (
  app: App,
  { team_id, user_id, id }: LinkToken,
  provider: SourceSlug,
  linked: LinkedAccount,
): Promise<rules.Outcome> =>
  inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const hash = await accountHash(app, team_id, provider, linked.account)
    if (hash && (await isAccountTaken(app, user, provider, hash))) return rules.linkFailed('duplicate_connection')
    const tokenError = await consumeToken(app, team_id, id)
    if (tokenError) return rules.linkFailed(tokenError)
    const before = await connectionFor(app, { team_id, user_id }, provider)
    await scheduleFeeds(app, await linkConnection(app, user, provider, linked), !!hash && before?.account_hash?.equals(hash) === true)
    return rules.linkSucceeded
  })

/** The pages are not API endpoints, so their changes add their own audit row. */
export const withAudit = (app: App, token: LiveToken, action: string): App => ({
  ...app,
  requestRows: async (innerApp) => ({
    audit: auditRow(innerApp, callerOf(token), { action, subject: `user_id:${token.user_id}`, status: 200 }),
  }),
})
