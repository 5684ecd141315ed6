import type pg from 'pg'
import type { Logger } from 'pino'
import { MINUTE } from '../../time.ts'

export const STATEMENT_TIMEOUT_MS = MINUTE

/** A pooler rejects settings of a client, so they are defaults of the role in this database. */
const settings = { timezone: 'UTC', statement_timeout: `${STATEMENT_TIMEOUT_MS / MINUTE}min`, idle_in_transaction_session_timeout: '1min' }

const LOCK_ID = 4_117_202_607

/** More than the processes that start at the same time on a new database. */
const MOST_OLD_SESSIONS = 5

/**
 * Sets the defaults of the role where they differ. Open sessions keep the old defaults, and a pooler would reuse these sessions
 * for an hour, so this process ends the ones that it gets.
 */
export async function applyRoleSettings(pool: pg.Pool, log: Logger) {
  try {
    for (let ended = 0; ended < MOST_OLD_SESSIONS; ended++) if (await applyInSession(pool)) return
    log.warn('settings of the database role not in effect')
  } catch (error) {
    log.warn({ code: (error as { code?: string }).code }, 'settings of the database role not changed')
  }
}

/** Returns whether the session has the settings. Otherwise it is ended. */
async function applyInSession(pool: pg.Pool) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_ID])
    const { role, database, present, current } = await readSettings(client)
    for (const [name, value] of Object.entries(settings))
      if (!present.includes(`${name}=${value}`.toLowerCase()))
        await client.query(`alter role ${role} in database ${database} set ${name} = '${value}'`)
    await client.query('commit')
    if (current) return true
    await endSession(client)
    return false
  } finally {
    client.release(true)
  }
}

type Found = { role: string; database: string; present: string[]; current: boolean }

async function readSettings(client: pg.PoolClient) {
  const { rows } = await client.query<Found>(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database, array(
        select lower(unnest(s.setconfig)) from pg_db_role_setting s join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase
        where r.rolname = current_user and d.datname = current_database()) as present,
      (select bool_and(current_setting(name) = value) from unnest($1::text[], $2::text[]) as wanted (name, value)) as current`,
    [Object.keys(settings), Object.values(settings)],
  )
  return rows[0] as Found
}

async function endSession(client: pg.PoolClient) {
  client.removeAllListeners('error').on('error', () => {})
  await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
}
