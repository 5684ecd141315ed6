import { sql } from 'kysely'
import type { Db } from '../db/open.ts'

/** By the clock of the database: those of two processes may differ by more than a lease. */
const fromNow = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

/** Takes pipelines that nobody publishes, or whose process has not been heard of: of any team, for the worker. */
export async function claimFree(db: Db, holder: string, { seconds, most }: { seconds: number; most: number }) {
  const { rows } = await sql<{ team_id: string }>`
    update pipelines set holder = ${holder}, leased_until = ${fromNow(seconds)} where team_id in (
      select p.team_id from pipelines p join teams t on t.id = p.team_id
      where cardinality(p.enabled) > 0 and t.deleted_at is null and (p.holder is null or p.leased_until < now())
      order by p.team_id limit ${most} for update of p skip locked
    ) returning team_id`.execute(db)
  return rows
}

export const renew = (db: Db, holder: string, seconds: number) =>
  db
    .updateTable('pipelines')
    .set({ leased_until: fromNow(seconds) })
    .where('holder', '=', holder)
    .execute()

export const release = (db: Db, holder: string) =>
  db.updateTable('pipelines').set({ holder: null, leased_until: null }).where('holder', '=', holder).execute()

export type Held = {
  team_id: string
  created_at: string
  revision: number
  event_type_prefixes: string[] | null
  sealed: Buffer
  after_no: number
  failures: number
  retry_at: string | null
  is_behind: boolean
}

/** What a process publishes, and whether the log has gone on. */
export async function held(db: Db, holder: string) {
  const { rows } = await sql<Held>`
    select p.team_id, p.created_at, p.revision, p.event_type_prefixes, p.sealed, p.after_no, p.failures, p.retry_at,
      exists (select from events e where e.team_id = p.team_id and e.no > p.after_no) as is_behind
    from pipelines p join teams t on t.id = p.team_id
    where p.holder = ${holder} and cardinality(p.enabled) > 0 and t.deleted_at is null`.execute(db)
  return rows
}

type Advance = { team_id: string; holder: string; from: number; place: number; delivered: number; at: string }

/** Records what was confirmed; false where somebody else publishes by now, or did meanwhile. */
export async function advance(db: Db, { team_id, holder, from, place, delivered, at }: Advance) {
  const { numUpdatedRows } = await db
    .updateTable('pipelines')
    .set((eb) => ({
      after_no: place,
      ...(delivered && {
        delivered: eb('delivered', '+', delivered),
        last_delivered_at: at,
        failures: 0,
        first_failure_at: null,
        last_failure_at: null,
        last_error: null,
        retry_at: null,
      }),
    }))
    .where('team_id', '=', team_id)
    .where('holder', '=', holder)
    .where('after_no', '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type Setback = { team_id: string; holder: string; revision: number; error: string; at: string; retry_at: string }

/** Of the broker that it happened with: whoever sent another URI meanwhile does not wait. */
export const setBack = (db: Db, { team_id, holder, revision, error, at, retry_at }: Setback) =>
  db
    .updateTable('pipelines')
    .set((eb) => ({
      failures: eb('failures', '+', 1),
      first_failure_at: eb.fn.coalesce('first_failure_at', eb.val(at)),
      last_failure_at: at,
      last_error: error,
      retry_at,
    }))
    .where('team_id', '=', team_id)
    .where('holder', '=', holder)
    .where('revision', '=', revision)
    .execute()
