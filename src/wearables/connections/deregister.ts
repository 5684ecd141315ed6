import { type App, inTransaction } from '../../platform/app.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { adapterFor } from '../providers/index.ts'
import { type Account, noAccount, openAccount, sealAccount } from './account.ts'
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
    const save = (account: Account) =>
      key ? store.updateEnded(app.db, connection, { sealed: sealAccount(key, connection.id, account) }) : Promise.resolve()
    if (key) await adapterFor(connection).deregister?.(app, connection, openAccount(key, connection), save)
  } catch {
    app.log.warn({ provider: connection.provider, attempts: connection.deregister_tries + 1 }, 'source deregistration failed')
    if (connection.deregister_tries + 1 < MAX_ATTEMPTS) return true
  }
  await eraseAccount(app, connection)
  return true
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
