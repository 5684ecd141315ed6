import { setTimeout as pause } from 'node:timers/promises'
import { isSource } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { later, SECOND } from '../../platform/time.ts'
import { renewTokens } from '../providers/oauth.ts'
import { clientFor } from '../providers/oauth-client.ts'
import { type Account, openAccount, sealAccount } from './account.ts'
import { type Connection, failConnection } from './actions.ts'
import * as store from './store.ts'

/** An access token that is good for a while; `broken` is for good, `unavailable` may pass. */
export type Access = { state: 'ready'; access_token: string } | { state: 'broken' } | { state: 'unavailable' }

/** A token that ends sooner is renewed before it is used. */
const MARGIN = 60 * SECOND
/** Longer than a source may take to answer. */
const LEASE = 30 * SECOND

/** The access token of a connection by OAuth. One caller renews it at a time, in whatever process; the others wait for what it gets. */
export async function accessTo(app: App, connection: Connection): Promise<Access> {
  const started = Date.now()
  while (Date.now() - started < LEASE) {
    const turn = await takeTurn(app, connection)
    if (turn.state !== 'wait') return turn.state === 'renew' ? renew(app, turn.connection, turn.account) : turn
    await pause(100)
  }
  return { state: 'unavailable' }
}

/** Judged under a lock of the row. The lease is what keeps others away while the source is asked, since that happens in no transaction. */
const takeTurn = (app: App, { team_id, user_id, provider, id }: Connection) =>
  inTransaction(app, async (app) => {
    const row = await store.lockConnection(app.db, team_id, user_id, provider)
    const key = await userSealingKey(app, team_id, user_id)
    if (row?.id !== id || row.status !== 'connected' || !key) return { state: 'broken' } as const
    const account = openAccount(key, row)
    if (!account.tokens) return { state: 'broken' } as const
    const now = app.wall()
    if (!row.expires_at || row.expires_at > later(now, MARGIN))
      return { state: 'ready', access_token: account.tokens.access_token } as const
    if (row.renewing_until && row.renewing_until > now) return { state: 'wait' } as const
    const connection = await store.updateConnection(app.db, row, { renewing_until: later(now, LEASE) })
    return { state: 'renew', connection: connection as Connection, account } as const
  })

async function renew(app: App, connection: Connection, account: Account): Promise<Access> {
  const { team_id, user_id, provider } = connection
  const client = isSource(provider) ? await clientFor(app, team_id, provider) : undefined
  const refresh_token = account.tokens?.refresh_token
  if (!client || !refresh_token) return broken(app, connection, 'The connection has no refresh token.')
  const answer = await renewTokens(app, client, { refresh_token, scopes: account.grant?.granted ?? [] })
  if (answer.state === 'refused' && answer.because === 'grant') return broken(app, connection, 'The source rejected the refresh token.')
  const key = await userSealingKey(app, team_id, user_id)
  if (!key) return { state: 'broken' }
  if (answer.state !== 'granted') {
    // Wrong credentials of ours are not the user's fault: once they are mended, the connection is as good as before.
    if (answer.state === 'refused') app.log.warn({ team_id, provider }, 'source rejected the client credentials')
    await store.endRenewal(app.db, connection, {})
    return { state: 'unavailable' }
  }
  const { access_token, refresh_token: next } = answer.granted
  const sealed = sealAccount(key, connection.id, { ...account, tokens: { access_token, refresh_token: next } })
  const kept = await store.endRenewal(app.db, connection, { sealed, expires_at: answer.expires_at, updated_at: app.now() })
  return kept ? { state: 'ready', access_token } : { state: 'unavailable' }
}

async function broken(app: App, connection: Connection, details: string): Promise<Access> {
  const message = 'The source no longer accepts the connection. The user has to connect again.'
  await failConnection(app, connection, { error_type: 'token_refresh_failed', message, details })
  return { state: 'broken' }
}
