import { sql } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import { SECOND } from '../../time.ts'
import { type Db, prepareStatement } from '../open.ts'

/** A killed process counts as running for this long. */
export const LEASE_SECONDS = 15
const RENEW_EVERY_MS = 5 * SECOND

/** A process, with the newest migration of its version. */
export type Process = { id: string; newest: string }

/** A connection or a pool. */
export type Connection = Pick<pg.ClientBase, 'query'>

/** Also returns whether a migration has run that the process cannot run beside: it starts once the lease of the process has ended. */
const renewStatement = prepareStatement(
  'renew_process',
  `with renewed as (
    insert into processes (id, newest, leased_until) values ($1, $2, now() + make_interval(secs => $3))
    on conflict (id) do update set leased_until = excluded.leased_until
    returning root_epoch
  )
  select root_epoch, exists (select from migrations where oldest collate "C" > $2) as outdated from renewed`,
)

type Renewed = { root_epoch: number | null; outdated: boolean }

async function renew(connection: Connection, { id, newest }: Process) {
  const { rows } = await connection.query<Renewed>(renewStatement.text, [id, newest, LEASE_SECONDS])
  return rows[0] as Renewed
}

export async function registerProcess(connection: Connection, process: Process) {
  // Those that were killed could not delete their rows.
  await connection.query('delete from processes where leased_until < now()')
  await renew(connection, process)
}

/** The newest migration of each running process, the oldest first. */
export async function listRunningVersions(connection: Connection) {
  const { rows } = await connection.query<{ exists: boolean }>("select to_regclass('processes') is not null as exists")
  if (!rows[0]?.exists) return []
  const running = await connection.query<{ newest: string }>('select newest from processes where leased_until >= now()')
  return running.rows.map(({ newest }) => newest).sort()
}

type RegistrationOptions = {
  log: Logger
  /** A migration has run that the process cannot run beside, so it must stop. */
  onOutdated(): void
  /** Returns the versions of the root that the process has loaded. It loads new ones first. */
  loadRoots(): Promise<number>
}

/** Keeps a process registered until it ends or is outdated. */
export function keepRegistered(pool: pg.Pool, process: Process, { log, onOutdated, loadRoots }: RegistrationOptions) {
  let renewal: Promise<void> | undefined
  let ended = false
  let timer = schedule()

  /** One renewal at a time, because it waits while a migration deletes the process. */
  function schedule() {
    return setTimeout(() => {
      renewal = renewOnce()
    }, RENEW_EVERY_MS).unref()
  }

  async function renewOnce() {
    const renewed = await renew(pool, process).catch((error) => void log.warn({ code: error.code }, 'process registration not renewed'))
    if (!renewed?.outdated) await reportRoots(renewed?.root_epoch)
    if (ended) return
    if (!renewed?.outdated) {
      timer = schedule()
      return
    }
    log.fatal({ newest: process.newest }, 'database migrated by a version that this process cannot run beside')
    onOutdated()
  }

  async function reportRoots(reported?: number | null) {
    try {
      const loaded = await loadRoots()
      if (loaded !== reported) await pool.query('update processes set root_epoch = $2 where id = $1', [process.id, loaded])
    } catch (error) {
      log.warn({ err: String(error) }, 'new versions of the root secret not loaded')
    }
  }

  return {
    /** Reports at once, instead of at the next renewal. */
    reportRoots: () => reportRoots(),
    async end() {
      ended = true
      clearTimeout(timer)
      await renewal
      await pool.query('delete from processes where id = $1', [process.id]).catch(() => {})
    },
  }
}

/** The versions of the root that each running process has loaded. Null for one that is starting. */
export async function listRootEpochs(db: Db) {
  return db.selectFrom('processes').select(['id', 'root_epoch']).where('leased_until', '>=', sql<string>`now()`).execute()
}
