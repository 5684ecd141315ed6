import { sql } from 'kysely'
import { pino } from 'pino'
import { anyTeam } from '../../platform/db/any-team.ts'
import { isPooled } from '../../platform/db/connections/pooler.ts'
import { checkServer, type Database, openDatabase, type PoolConnection } from '../../platform/db/open.ts'
import { timeOfId } from '../../platform/db/time-ordered-id.ts'

export type Server = {
  version: string
  skew_ms: number
  max_connections: number
  reserved: number
  connected: number
  fsync: boolean
  pooled: boolean
}

type ServerRow = Omit<Server, 'skew_ms' | 'pooled'> & { at: number }

/** The server's version, settings and connections. */
export async function inspectServer({ pool }: Database): Promise<Server> {
  const client = await pool.connect()
  try {
    return { ...(await readServer(client)), pooled: await isPooled(client) }
  } finally {
    client.release()
  }
}

/** Opens the database of another setting for one check. */
export async function withDatabase<R>(setting: string, url: string, read: (database: Database) => Promise<R>) {
  const database = openDatabase(url, 1, pino({ level: 'silent' }), { isReplica: setting === 'READ_DATABASE_URL' })
  try {
    await checkServer(database, url, setting)
    return await read(database)
  } finally {
    await database.close()
  }
}

async function readServer(client: PoolConnection) {
  const before = Date.now()
  const { rows } = await client.query<ServerRow>(`
    select current_setting('server_version') as version, extract(epoch from clock_timestamp())::double precision * 1000 as at,
      current_setting('max_connections')::integer as max_connections, current_setting('superuser_reserved_connections')::integer as reserved,
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer as connected,
      current_setting('fsync') = 'on' as fsync`)
  const after = Date.now()
  const { at, ...server } = rows[0] as ServerRow
  return { ...server, skew_ms: clockSkew(at, before, after) }
}

/** How far the server's time is from ours, in milliseconds. A time between the request and its response is no skew, because either may be slow. */
export const clockSkew = (at: number, before: number, after: number) => Math.round(at - Math.min(Math.max(at, before), after))

/** Commits that have waited for a synchronous standby for some seconds. */
export async function countWaitingCommits({ db }: Database) {
  const { rows } = await sql<{ commits: number }>`
    select count(*)::integer as commits from pg_stat_activity
    where datname = current_database() and wait_event = 'SyncRep' and clock_timestamp() - state_change > interval '3 seconds'`.execute(db)
  return rows[0]?.commits ?? 0
}

/** The age in seconds of the oldest event, of any team, that is not in its log. A worker moves events within a second or two. */
export async function findOutboxAge({ db }: Database) {
  const { rows } = await sql<{ id: string }>`
    select id from outbox ${anyTeam('logs with work')} order by id limit 1`.execute(db)
  const at = rows[0] && timeOfId(rows[0].id)
  return at === undefined ? 0 : Math.max(0, (Date.now() - at) / 1000)
}

const SAMPLE_TEAMS = 5
const SAMPLE_EVENTS = 1000

/** Logs of any team whose time is ahead of the clock, and repeated positions among the newest events of the teams with the most. */
export async function checkLogs({ db }: Database) {
  const { rows } = await sql<{ logs: number }>`
    select ${anyTeam('the largest teams')} count(*)::integer as logs from event_logs where last_at > now() + interval '1 minute'`.execute(
    db,
  )
  const { rows: teams } = await sql<{ team_id: string }>`
    select ${anyTeam('the largest teams')} team_id from event_logs order by last_no desc, team_id limit ${SAMPLE_TEAMS}`.execute(db)
  let repeated = 0
  for (const { team_id } of teams) repeated += await countRepeated(db, team_id)
  return { ahead: rows[0]?.logs ?? 0, repeated }
}

async function countRepeated(db: Database['db'], team_id: string) {
  const { rows } = await sql<{ count: number }>`
    select (count(*) - count(distinct no))::integer as count from (
      select no from events where team_id = ${team_id} order by no desc limit ${SAMPLE_EVENTS}
    ) newest`.execute(db)
  return rows[0]?.count ?? 0
}
