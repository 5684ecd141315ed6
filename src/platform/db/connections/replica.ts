import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import { SECOND } from '../../time.ts'
import { type Database, type Db, openDatabase } from '../open.ts'

/** A replica that is further behind is not used. */
export const MAX_STALENESS_MS = 5 * SECOND
const BEAT_MS = SECOND
const CATCH_UP_POLL_MS = SECOND / 10

export type Replica = {
  /** The replica, while it is at most five seconds behind the primary and has everything that was committed before it was opened. */
  current(): Db | undefined
  /** The replica for a command that has just started. Waits until it has caught up, but not longer than it may be behind. */
  caughtUp(): Promise<Database | undefined>
  /** The replica failed, so it is not used before the next measurement. */
  suspend(): void
  close(): Promise<void>
}

type Options = {
  /** Names the deployment of a database, because a wrong URL can lead to the database of another one. */
  identity: RawBuilder<string | null>
  maxStalenessMs: number
}

/**
 * A read replica of the database. A row on the primary holds the primary's time; the age of the copy on the replica is how far
 * it is behind. All times come from the primary and the local clock measures only durations, so clocks may differ.
 */
export function openReplica(url: string, primary: Db, size: number, log: Logger, { identity, maxStalenessMs }: Options): Replica {
  const database = openDatabase(url, size, log, { isReplica: true })
  let staleness = Number.POSITIVE_INFINITY
  let measuredAt = 0
  let firstBeat: number | undefined
  let isComplete = false
  let isFresh: boolean | undefined
  let measuring: Promise<void> | undefined

  /** How far the replica was behind when the measurement began. */
  async function stalenessNow() {
    const beaten = await beat(primary, identity)
    firstBeat ??= beaten.ms
    const copied = await readBeat(database.db, identity)
    if (!copied || copied.deployment !== beaten.deployment) return Number.POSITIVE_INFINITY
    // This process may have migrated the database, so an older copy can lack tables.
    isComplete ||= copied.ms >= firstBeat
    return isComplete ? Math.max(0, beaten.ms - copied.ms) : Number.POSITIVE_INFINITY
  }

  async function measureOnce() {
    const startedAt = performance.now()
    let code: string | undefined
    staleness = await stalenessNow().catch((error) => {
      code = error.code
      return Number.POSITIVE_INFINITY
    })
    measuredAt = startedAt
    const wasFresh = isFresh
    isFresh = staleness <= maxStalenessMs
    if (isFresh === wasFresh) return
    if (isFresh) log.info({ staleness_ms: staleness }, 'read replica in use')
    else log.warn({ staleness_ms: staleness, code }, 'read replica not in use')
  }

  /** A replica that hangs gets one measurement at a time. */
  function measure() {
    measuring ??= measureOnce().finally(() => {
      measuring = undefined
    })
    return measuring
  }

  const isCurrent = () => staleness + performance.now() - measuredAt <= maxStalenessMs

  const timer = setInterval(measure, BEAT_MS).unref()
  return {
    current: () => (isCurrent() ? database.db : undefined),
    async caughtUp() {
      const giveUpAt = performance.now() + maxStalenessMs
      for (;;) {
        await measure()
        if (isCurrent()) return database
        if (performance.now() > giveUpAt) return undefined
        await pause(CATCH_UP_POLL_MS)
      }
    },
    suspend() {
      staleness = Number.POSITIVE_INFINITY
    },
    async close() {
      clearInterval(timer)
      await measuring
      await database.close()
    },
  }
}

/** The primary's time in milliseconds. */
type Beat = { ms: number; deployment: string | null }

const beatColumns = (identity: RawBuilder<string | null>) => sql`extract(epoch from at)::float8 * 1000 as ms, ${identity} as deployment`

const unnamed = sql<null>`null`

/** Writes the primary's time and returns it. */
export async function beat(db: Db, identity: RawBuilder<string | null> = unnamed) {
  const { rows } = await sql<Beat>`
    insert into heartbeat (at) values (clock_timestamp()) on conflict (one) do update set at = excluded.at
    returning ${beatColumns(identity)}`.execute(db)
  return rows[0] as Beat
}

export async function readBeat(db: Db, identity: RawBuilder<string | null> = unnamed) {
  const { rows } = await sql<Beat>`select ${beatColumns(identity)} from heartbeat`.execute(db)
  return rows[0]
}
