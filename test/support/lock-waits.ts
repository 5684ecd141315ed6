import { onEveryServer } from './query.ts'

const WAITING = "wait_event_type = 'Lock' and datname = current_database()"

/** Sessions of a database that wait for a lock. In a cluster, a session on the server that has the team waits. */
export const lockWaits = (url: string) =>
  onEveryServer<{ seconds: number }>(
    url,
    `select extract(epoch from clock_timestamp() - query_start)::float8 as seconds from pg_stat_activity where ${WAITING}`,
  )

/** Cancels the statements that wait for a lock, like the statement timeout of the server. */
export const cancelLockWaits = (url: string) => onEveryServer(url, `select pg_cancel_backend(pid) from pg_stat_activity where ${WAITING}`)
