import { setTimeout as pause } from 'node:timers/promises'
import { isSource } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { later, SECOND } from '../../platform/time.ts'
import { renewTokens } from '../providers/oauth.ts'
import { clientFor, retirementOf } from '../team-sources/oauth-client.ts'
import { type Account, openAccount, sealAccount } from './account.ts'
import { type Connection, failConnection } from './actions.ts'
import * as store from './store.ts'

/** `broken` is permanent: the user must connect again. `unavailable` is temporary. */
type Access = ReadyAccess | { state: 'broken' } | { state: 'unavailable' }
/** `granted` are the scopes that the user granted. Undefined if the source did not say. */
type ReadyAccess = { state: 'ready'; access_token: string; region: string | undefined; granted: string[] | undefined }

const readyAccess = ({ region, grant }: Account, access_token: string): ReadyAccess => ({
  state: 'ready',
  access_token,
  region,
  granted: grant?.granted,
})

/** A token that expires sooner is renewed before use. */
const RENEWAL_MARGIN_MS = 60 * SECOND
/** Longer than a source can take to respond. */
const LEASE_MS = 30 * SECOND

/**
 * Returns the access token of an OAuth connection. One process renews it at a time, and the others wait for the result.
 * A token that the source `rejected` is renewed before it expires.
 */
export async function getAccess(app: App, connection: Connection, rejected?: string): Promise<Access> {
  const current = rejected === undefined ? await currentAccess(app, connection) : undefined
  if (current) return current
  const startedAt = Date.now()
  while (Date.now() - startedAt < LEASE_MS) {
    const claim = await claimRenewal(app, connection, rejected)
    if (claim.state !== 'wait') return claim.state === 'renew' ? renew(app, claim.connection, claim.account) : claim
    await pause(100)
  }
  return { state: 'unavailable' }
}

/** The token of a loaded connection, without a lock, if it is valid for longer. The source rejects one that was replaced meanwhile. */
async function currentAccess(app: App, connection: Connection): Promise<Access | undefined> {
  const key = connection.status === 'connected' ? await userSealingKey(app, connection.team_id, connection.user_id) : undefined
  const account = key && openAccount(key, connection)
  if (!account?.tokens || !isValid(connection, app.wall())) return undefined
  return readyAccess(account, account.tokens.access_token)
}

const isValid = ({ expires_at }: Connection, now: string) => !expires_at || expires_at > later(now, RENEWAL_MARGIN_MS)

/** Decides under a row lock. The lease keeps other processes away during the request to the source, which runs outside the transaction. */
const claimRenewal = (app: App, { team_id, user_id, provider, id }: Connection, rejected: string | undefined) =>
  inTransaction(app, async (app) => {
    const row = await store.lockConnection(app.db, team_id, user_id, provider)
    const key = await userSealingKey(app, team_id, user_id)
    if (row?.id !== id || row.status !== 'connected' || !key) return { state: 'broken' } as const
    const account = openAccount(key, row)
    if (!account.tokens) return { state: 'broken' } as const
    const now = app.wall()
    const { access_token } = account.tokens
    if (isValid(row, now) && access_token !== rejected) return readyAccess(account, access_token)
    if (row.renewing_until && row.renewing_until > now) return { state: 'wait' } as const
    const connection = await store.updateConnection(app.db, row, { renewing_until: later(now, LEASE_MS) })
    return { state: 'renew', connection: connection as Connection, account } as const
  })

async function renew(app: App, connection: Connection, account: Account): Promise<Access> {
  const { team_id, user_id, provider } = connection
  const client = isSource(provider) ? await clientFor(app, team_id, provider, account.region) : undefined
  const refresh_token = account.tokens?.refresh_token
  const retirement = !client && isSource(provider) ? retirementOf(provider) : undefined
  if (retirement || !refresh_token)
    return breakConnection(app, connection, retirement ?? 'The connection has no refresh token.', retirement)
  if (!client) {
    // The connection works again once there is an application.
    await store.endRenewal(app.db, connection, {})
    return { state: 'unavailable' }
  }
  const response = await renewTokens(app, client, { refresh_token, scopes: account.grant?.granted ?? [] })
  if (response.state === 'refused' && response.reason === 'grant')
    return breakConnection(app, connection, 'The source rejected the refresh token.')
  const key = await userSealingKey(app, team_id, user_id)
  if (!key) return { state: 'broken' }
  if (response.state !== 'granted') {
    // Rejected client credentials are the operator's fault, so the connection stays and works again once they are fixed.
    if (response.state === 'refused') app.log.warn({ team_id, provider }, 'source rejected the client credentials')
    await store.endRenewal(app.db, connection, {})
    return { state: 'unavailable' }
  }
  const { access_token, refresh_token: next } = response.granted
  const sealed = sealAccount(key, connection.id, { ...account, tokens: { access_token, refresh_token: next } })
  const isStored = await store.endRenewal(app.db, connection, { sealed, expires_at: response.expires_at, updated_at: app.now() })
  return isStored ? readyAccess(account, access_token) : { state: 'unavailable' }
}

const REJECTED = 'The source no longer accepts the connection. The user has to connect again.'

async function breakConnection(app: App, connection: Connection, details: string, message = REJECTED): Promise<Access> {
  await failConnection(app, connection, { error_type: 'token_refresh_failed', message, details })
  return { state: 'broken' }
}
