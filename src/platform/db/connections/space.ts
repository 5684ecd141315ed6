import { sql } from 'kysely'
import { SECOND } from '../../time.ts'
import { isConnectionLost, isDiskFull } from '../errors.ts'
import type { Db } from '../open.ts'

/** A volume that is nearly full accepts some writes and refuses others, so a failure counts for this long. */
const REPORTED_MS = 10 * SECOND

export type SpaceWatch = ReturnType<typeof newSpaceWatch>

/** Remembers that a statement of this process found no space on the volume of the database. Gap 354. */
export function newSpaceWatch() {
  let hasFailed = false
  let reportedUntil: number | undefined
  return {
    noteFailure() {
      hasFailed = true
    },
    /** Runs a check whose failure is reported by its caller. */
    async unnoted<T>(check: () => Promise<T>) {
      const before = hasFailed
      try {
        return await check()
      } catch (error) {
        hasFailed = before
        throw error
      }
    },
    /** Whether there is space again. `allocate` fails if there is none. */
    async hasSpace(now: number, allocate: () => Promise<unknown>) {
      if (hasFailed) reportedUntil = now + REPORTED_MS
      hasFailed = false
      if (reportedUntil === undefined) return true
      if (now < reportedUntil) return false
      await this.unnoted(allocate)
      reportedUntil = undefined
      return true
    },
  }
}

/** Takes a mebibyte on the volume of the database for a moment. Updates of existing rows can succeed without any. */
export const allocateSpace = (db: Db) =>
  sql`create temporary table space_probe on commit drop as select repeat('x', 1000) as text from generate_series(1, 1050)`
    .execute(db)
    .catch((error) => {
      // A role without the right to create temporary tables cannot ask.
      if (isDiskFull(error) || isConnectionLost(error)) throw error
    })
