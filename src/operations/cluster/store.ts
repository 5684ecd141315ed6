import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { isDistributed, removeWorkerTimeouts } from '../../platform/db/schema/distribute.ts'

const runOn = (db: Db) => (text: string) => sql.raw(text).execute(db)

/** Whether the tables are distributed over a Citus cluster. */
export const isClustered = (db: Db) => isDistributed(runOn(db))

type ShardsOfServer = { server: string; node: number; shards: number; bytes: number }

/** The servers with shards, and how many each has. */
export async function listServers(db: Db) {
  const { rows } = await sql<ShardsOfServer>`
    select n.nodename || ':' || n.nodeport as server, n.nodeid as node, count(s.shardid)::int as shards,
      coalesce(sum(s.shard_size), 0)::float8 as bytes
    from pg_dist_node n left join citus_shards s
      on s.nodename = n.nodename and s.nodeport = n.nodeport and s.citus_table_type = 'distributed'
    where n.isactive and n.shouldhaveshards group by 1, 2 order by 1`.execute(db)
  return rows
}

/** The teams with the most events. */
export async function listLargestTeams(db: Db, limit: number) {
  const { rows } = await sql<{ team_id: string; events: number }>`
    select ${anyTeam('the largest teams')} team_id, last_no as events from event_logs order by last_no desc, team_id limit ${limit}`.execute(
    db,
  )
  return rows
}

type Placement = { shard: number; node: number; server: string; is_alone: boolean }

/** The shard of a team's users, which is where its other tables are too. A shard with a single hash value has one team. */
export async function findPlacement(db: Db, team_id: string) {
  const { rows } = await sql<Placement>`
    select p.shardid as shard, n.nodeid as node, n.nodename || ':' || n.nodeport as server, s.shardminvalue = s.shardmaxvalue as is_alone
    from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid join pg_dist_shard s on s.shardid = p.shardid
    where p.shardid = get_shard_id_for_distribution_column('users', ${team_id}::uuid)`.execute(db)
  return rows[0]
}

/** A move can exceed the statement timeout. Citus rejects a move inside a transaction, so the session changes its timeout. */
export const withoutTimeout = <T>(db: Db, work: (db: Db) => Promise<T>) =>
  db.connection().execute(async (db) => {
    await sql`set statement_timeout = 0`.execute(db)
    await removeWorkerTimeouts(runOn(db))
    try {
      return await work(db)
    } finally {
      await sql`reset statement_timeout`.execute(db)
    }
  })

/** Whether sessions of the service are open. They are older than the session of this command. */
export async function isServiceRunning(db: Db) {
  const { rows } = await sql`
    select from pg_stat_activity other join pg_stat_activity own on own.pid = pg_backend_pid()
    where other.datname = current_database() and other.application_name = own.application_name and other.backend_start < own.backend_start`.execute(
    db,
  )
  return rows.length > 0
}

/** Moves a team into a shard of its own, with all its tables. In Citus 13.2.2, a write that waited for the split of a shard could be lost. */
export const isolateTeam = (db: Db, team_id: string) =>
  sql`select isolate_tenant_to_new_shard('users', ${team_id}::uuid, 'CASCADE', 'block_writes')`.execute(db)

/** Moves a shard and the colocated shards of the other tables. Reads and writes continue; writes wait for a moment at the end. */
export const moveShard = (db: Db, { shard, node }: Placement, target: number) =>
  sql`select citus_move_shard_placement(${shard}, ${node}::int, ${target}::int)`.execute(db)
