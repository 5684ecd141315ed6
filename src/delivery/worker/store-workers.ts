import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareStatement, run } from '../../platform/db/open.ts'

const renewStatement = prepareStatement(
  'renew_worker',
  `insert into workers (id, leased_until) values ($1, now() + make_interval(secs => $2))
   on conflict (id) do update set leased_until = excluded.leased_until`,
  { hot: 'write' },
)

/** Leases use the database clock, because the clocks of two processes may differ by more than a lease. A busy pool does not delay the renewal. */
export const renewWorker = (db: Db, id: string, seconds: number) => run(db, renewStatement, [id, seconds])

export async function listLiveWorkers(db: Db) {
  const { rows } = await sql<{ id: string }>`select id from workers where leased_until > now()`.execute(db)
  return rows.map(({ id }) => id)
}

export const deleteWorker = (db: Db, id: string) => db.deleteFrom('workers').where('id', '=', id).execute()

export const deleteWorkers = (db: Db) => db.deleteFrom('workers').execute()

/** Deletes workers that died long ago. */
export const pruneWorkers = (db: Db) => sql`delete from workers where leased_until < now() - interval '1 hour'`.execute(db)

/** Finds any team that needs a worker: with events to move, due, or of a dead worker. Citus joins no local table to a distributed one. */
export const searchWork = (_: Db, now: string) => sql`
  select ${anyTeam('logs with work')} team_id from outbox
  union all
  select team_id from event_logs where due_at <= ${now}
  union all
  select team_id from event_logs where owner not in (select w.id from workers w where w.leased_until > now())`

/** The teams with work, each once. */
export async function listTeamsWithWork(db: Db, now: string) {
  const { rows } = await sql<{ team_id: string }>`select distinct team_id from (${searchWork(db, now)}) work`.execute(db)
  return rows.map(({ team_id }) => team_id)
}
