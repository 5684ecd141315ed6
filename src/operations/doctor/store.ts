import type { Database } from '../../platform/db/open.ts'

export type Server = { version: string; skew_ms: number; max_connections: number; reserved: number; connected: number; fsync: boolean }

/** The server's version, settings and connections. */
export async function inspectServer({ pool }: Database): Promise<Server> {
  const before = Date.now()
  const { rows } = await pool.query<Omit<Server, 'skew_ms'> & { at: number }>(`
    select current_setting('server_version') as version, extract(epoch from clock_timestamp())::double precision * 1000 as at,
      current_setting('max_connections')::integer as max_connections, current_setting('superuser_reserved_connections')::integer as reserved,
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer as connected,
      current_setting('fsync') = 'on' as fsync`)
  const after = Date.now()
  const { at = 0, ...server } = rows[0] ?? ({} as Omit<Server, 'skew_ms'> & { at: number })
  return { ...server, skew_ms: clockSkew(at, before, after) }
}

/** How far the server's time is from ours, in milliseconds. Between the request and its response it is no skew, because either may be slow. */
export const clockSkew = (at: number, before: number, after: number) => Math.round(at - Math.min(Math.max(at, before), after))

/** The age in seconds of the oldest event without a number. A worker numbers events within a second. */
export async function findUnnumberedAge({ pool }: Database) {
  const { rows } = await pool.query<{ seconds: number | null }>(
    'select extract(epoch from clock_timestamp() - min(logged_at))::double precision as seconds from events where no is null',
  )
  return rows[0]?.seconds ?? 0
}

/** The URLs of a few enabled webhooks. */
export async function listWebhookUrls({ pool }: Database, limit: number) {
  const { rows } = await pool.query<{ url: string }>(
    'select distinct url from webhooks where disabled_at is null and not inbox order by url limit $1',
    [limit],
  )
  return rows.map(({ url }) => url)
}
