import { type App, inTransaction, later, MINUTE } from '../app.ts'
import { providerFor } from '../providers/index.ts'
import { userSealingKey } from '../sealing/vault.ts'
import { openAccount } from './account.ts'
import * as store from './store.ts'

const GIVE_UP_AFTER = 5

/** Tells the source of one connection that it has ended, then forgets it; answers whether there may be more. */
export async function sayFarewell(app: App): Promise<boolean> {
  const connection = await claim(app)
  if (!connection) return false
  try {
    const { team_id, user_id } = connection
    const key = await userSealingKey(app, team_id, user_id)
    if (key) await providerFor(connection).leave?.(app, connection, openAccount(key, connection))
  } catch {
    app.log.warn({ provider: connection.provider, tries: connection.farewells + 1 }, 'a source could not be told that a user left')
    if (connection.farewells + 1 < GIVE_UP_AFTER) return true
  }
  await store.deleteEnded(app.db, connection)
  return true
}

/** Whoever dies on the way leaves it to the next try. */
const claim = (app: App) =>
  inTransaction(app, async (app) => {
    const connection = await store.lockNextFarewell(app.db, app.wall())
    if (connection) await store.postponeFarewell(app.db, connection, later(app.wall(), MINUTE * 4 ** connection.farewells))
    return connection
  })
