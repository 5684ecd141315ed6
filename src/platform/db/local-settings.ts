import { sql } from 'kysely'
import type { Db } from './open.ts'

type Settings = Record<string, string | number>

/** Changes settings for the rest of the transaction, in a cluster on every server. Without Citus, the first one has no effect. */
export const localSettings = (settings: Settings) =>
  Object.entries({ 'citus.propagate_set_commands': 'local', ...settings })
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ')

export const setLocally = (db: Db, settings: Settings) => sql.raw(localSettings(settings)).execute(db)

/** Ends the transaction if it waits longer than this for a lock. */
export const limitLockWait = (db: Db, ms: number) => setLocally(db, { lock_timeout: ms })
