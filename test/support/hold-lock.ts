import { sql } from 'kysely'
import type { App } from '../../src/platform/app.ts'

type Db = App['db']

/** Lets a transaction that holds a lock outlast a slow machine. The server would end it after a minute without a statement. */
export const stayIdle = (db: Db) => sql`set local idle_in_transaction_session_timeout = 0`.execute(db)

/** Takes a lock in a transaction and holds it. Returns the function that releases it. */
export async function holdLock(app: App, lock: (db: Db) => Promise<unknown>) {
  const [held, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = app.db.transaction().execute(async (db) => {
    await stayIdle(db)
    await lock(db)
    held.resolve()
    await end.promise
  })
  // A failed lock rejects instead of waiting forever.
  await Promise.race([held.promise, holding])
  return async () => {
    end.resolve()
    await holding
  }
}
