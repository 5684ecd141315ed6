import { sql } from 'kysely'
import { HOUR, later } from '../../time.ts'
import type { Db } from '../open.ts'
import { LOCK_ID } from './schema-change.ts'

/**
 * A change of data that processes of earlier versions cannot read. Processes since the migration `after` read both forms, and
 * write the new one once the change has begun. From then on, earlier versions do not start.
 */
export type LateChange = { name: string; after: string }

/** How long after the migration an upgrade can still be rolled back. */
const GRACE_MS = HOUR

export async function hasBegun(db: Db, { name }: LateChange) {
  const { rows } = await sql`select from migrations where name = ${name}`.execute(db)
  return rows.length > 0
}

/** Begins a change unless a process of an earlier version runs, or its migration ran a short time ago. Returns whether it has begun. */
export async function beginLateChange(db: Db, change: LateChange, now: string) {
  if (await hasBegun(db, change)) return true
  return db.transaction().execute(async (db) => {
    // Processes register while they hold the same lock.
    await sql`select pg_advisory_xact_lock(${LOCK_ID})`.execute(db)
    const { rows } = await sql<{ can_begin: boolean }>`
      select exists (select from migrations where name = ${change.after} and ran_at < ${later(now, -GRACE_MS)})
        and not exists (select from processes where leased_until >= now() and newest collate "C" < ${change.after}) as can_begin`.execute(
      db,
    )
    if (!rows[0]?.can_begin) return false
    await sql`insert into migrations (name, oldest) values (${change.name}, ${change.after}) on conflict do nothing`.execute(db)
    return true
  })
}
