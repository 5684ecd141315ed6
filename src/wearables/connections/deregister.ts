import { isSource } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { endAccess } from '../providers/revoke.ts'
import { clientFor } from '../team-sources/oauth-client.ts'
import { noAccount, openAccount, sealAccount } from './account.ts'
import { claimFirst, MAX_CANDIDATES } from './claim.ts'
import * as store from './store.ts'

export { searchDeregistrations } from './store.ts'

const MAX_ATTEMPTS = 5

/** Deregisters one ended connection at its source and erases the account. Returns whether there can be more. */
export async function deregister(app: App): Promise<boolean> {
  const connection = await claim(app)
  if (!connection) return false
  try {
    const { team_id, user_id } = connection
    const key = await userSealingKey(app, team_id, user_id)
    if (key) await endAccount(app, connection, key)
  } catch {
    app.log.warn({ provider: connection.provider, attempts: connection.deregister_tries + 1 }, 'source deregistration failed')
    if (connection.deregister_tries + 1 < MAX_ATTEMPTS) return true
  }
  await eraseAccount(app, connection)
  return true
}

/** Ends the access to an account at its source. Throws if it must be retried. */
async function endAccount(app: App, connection: store.ConnectionRow, key: SealingKey) {
  const { id, team_id, kind, provider } = connection
  const account = openAccount(key, connection)
  const { tokens, external_user_id, grant, region } = account
  const client = kind === 'oauth' && isSource(provider) ? await clientFor(app, team_id, provider, region) : undefined
  if (!client || !tokens) return
  const ended = { external_user_id, tokens, scopes: grant?.granted ?? [] }
  const isEnded = await endAccess(app, client, provider, ended, (tokens) =>
    store.updateEnded(app.db, connection, { sealed: sealAccount(key, id, { ...account, tokens }) }),
  )
  if (!isEnded) throw new Error('The source did not revoke the token')
}

/** Keeps only the fact that the user disconnected, until the source is connected again. */
async function eraseAccount(app: App, connection: store.ConnectionRow) {
  const { id, team_id, user_id, provider } = connection
  const key = await userSealingKey(app, team_id, user_id)
  if (!key) return
  await store.updateEnded(app.db, connection, { sealed: sealAccount(key, id, noAccount), account_hash: null, deregister_at: null })
  if (await store.findConnection(app.db, team_id, user_id, provider)) await store.deleteClosed(app.db, team_id, user_id, provider)
}

/** Postpones the next attempt first, so that a crash leads to a retry. */
const claim = async (app: App) =>
  claimFirst(await store.findDeregistrations(app.db, app.wall(), MAX_CANDIDATES), (candidate) =>
    inTransaction(app, async (app) => {
      const now = app.wall()
      const connection = await store.lockDeregistration(app.db, candidate, now)
      if (connection) await store.postponeDeregistration(app.db, connection, later(now, MINUTE * 4 ** connection.deregister_tries))
      return connection
    }),
  )
