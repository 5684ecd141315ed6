import { sql } from 'kysely'
import { type App, inTransaction } from '../app.ts'
import { DAY, later, SECOND } from '../time.ts'
import { isDuplicateTable, isLockTimeout } from './errors.ts'
import { setLocally } from './local-settings.ts'
import type { Db } from './open.ts'

const DAYS_AHEAD = 3
const LOCK_WAIT_MS = SECOND

/** Creates the partitions of the coming days and drops those of days before `oldest`. A partition's name ends in its day. */
export async function maintainPartitions(app: App, parent: string, oldest: string) {
  const partitions = await listPartitions(app.db, parent)
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = later(app.wall(), ahead * DAY).slice(0, 10)
    if (!partitions.has(digitsOf(day))) await postponeIfLocked(app, parent, (app) => createPartition(app.db, parent, day))
  }
  for (const [day, name] of partitions)
    if (day < digitsOf(oldest)) await postponeIfLocked(app, parent, (app) => dropPartition(app.db, name))
}

const digitsOf = (day: string) => day.replaceAll('-', '')

/**
 * Creating or dropping a partition locks its parent, and writers queue behind the lock. While a long read such as a backup
 * holds the parent, the work waits for the next run. Partitions are created days before they are needed.
 */
async function postponeIfLocked(app: App, parent: string, work: (app: App) => Promise<unknown>) {
  try {
    await inTransaction(app, async (app) => {
      // Citus changes shards on several connections at a time, which would wait for each other.
      await setLocally(app.db, { lock_timeout: LOCK_WAIT_MS, 'citus.multi_shard_modify_mode': 'sequential' })
      await work(app)
    })
  } catch (error) {
    // Another process created the partition at the same time.
    if (isDuplicateTable(error)) return
    if (!isLockTimeout(error)) throw error
    app.log.warn({ table: parent }, 'partition change postponed: table in use')
  }
}

const createPartition = (db: Db, parent: string, day: string) => sql`select make_partition(${parent}, ${day}::date)`.execute(db)

/** The names of the partitions by the digits of their day. */
async function listPartitions(db: Db, parent: string) {
  const { rows } = await sql<{ day: string; name: string }>`
    select right(child.relname, 8) as day, child.relname as name
    from pg_inherits join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
    where parent.relname = ${parent} and child.relname ~ '_\\d{8}$'`.execute(db)
  return new Map(rows.map(({ day, name }) => [day, name]))
}

const dropPartition = (db: Db, name: string) => sql`drop table if exists ${sql.ref(name)}`.execute(db)
