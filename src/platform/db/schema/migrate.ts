import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { setupProblem } from '../../problem.ts'
import { SECOND } from '../../time.ts'
import { isDeadlock, isLockTimeout } from '../errors.ts'
import { distributeNewTables, isDistributed, setTakeover } from './distribute.ts'
import { applyFunctions } from './functions.ts'
import { type Connection, LEASE_SECONDS, listRunningVersions, type Process, registerProcess } from './processes.ts'
import { beginSchemaChange } from './schema-change.ts'
import { splitStatements } from './statements.ts'

const migrationsFolder = join(import.meta.dirname, '../../../../migrations')

/**
 * While a migration waits for a lock on a table, every other statement on the table waits too. So it soon gives up and retries.
 * PostgreSQL looks for a deadlock when a statement has waited for a second, so a request rarely loses one against a migration.
 */
const LOCK_TIMEOUT_MS = 0.5 * SECOND
const LOCK_ATTEMPTS = 48
const LOCK_RETRY_MS = 2 * SECOND

type Options = {
  /** Limits the run to these files. */
  only?: string[]
  /** The process that starts. It is registered once no migration is missing. */
  process?: Process
  /** For tests. */
  folder?: string
  /** The folder of the files with SQL functions, for tests. */
  functions?: string
}

type Run = Options & { folder: string; files: string[] }

/**
 * Runs missing migrations once, then applies the SQL functions that changed. Replicas that start together wait for the one that
 * migrates. Each migration is one transaction that holds the lock, so it works through a transaction pooler. In a Citus cluster, it
 * also distributes the tables that the migration adds.
 */
export async function migrate(pool: pg.Pool, { folder = migrationsFolder, ...options }: Options = {}) {
  const run: Run = { ...options, folder, files: await migrationFiles(folder) }
  const client = await pool.connect()
  const ran: string[] = []
  try {
    for (;;) {
      const name = await retryLocked(client, () => runNextMigration(client, run))
      if (!name) return ran
      ran.push(name)
    }
  } catch (error) {
    if (isLockTimeout(error))
      throw setupProblem(
        'The database cannot be migrated: another transaction, such as a backup, holds a lock. Try again when it has ended.',
      )
    if (error instanceof pg.DatabaseError) throw setupProblem(`The database cannot be migrated: ${error.message}`)
    throw error
  } finally {
    // Closes the connection, which rolls back an unfinished transaction.
    client.release(true)
  }
}

export const migrationFiles = async (folder = migrationsFolder) => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

async function retryLocked<T>(client: pg.PoolClient, run: () => Promise<T>, attempt = 1): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(isLockTimeout(error) || isDeadlock(error)) || attempt === LOCK_ATTEMPTS) throw error
    await client.query('rollback')
    await pause(LOCK_RETRY_MS)
    return retryLocked(client, run, attempt + 1)
  }
}

/** Runs the first missing migration and returns its name. Undefined if none is missing. */
async function runNextMigration(client: pg.PoolClient, run: Run) {
  await beginSchemaChange(client)
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await client.query(
    'create table if not exists migrations (name text primary key, ran_at timestamptz not null default now(), oldest text not null)',
  )
  const { missing, isNewest } = await compareMigrations(client, run.files)
  const name = missing.find((name) => run.only?.includes(name) ?? true)
  if (name) await runMigration(client, join(run.folder, name), name)
  // An older version that starts during a rolling deploy must not put its functions back.
  else if (!missing.length && isNewest) await changeFunctions(client, run.functions)
  if (!name && run.process) await registerProcess(client, run.process)
  await client.query('commit')
  return name
}

async function runMigration(client: pg.PoolClient, path: string, name: string) {
  const text = await readFile(path, 'utf8')
  const oldest = oldestBeside(name, text)
  await checkRunning(client, name, oldest)
  const run = (text: string) => client.query(text)
  const isCluster = await isDistributed(run)
  if (isCluster) await setTakeover(run, 'off')
  for (const statement of splitStatements(text)) await client.query(statement)
  if (isCluster) {
    await setTakeover(run, 'on')
    await distributeNewTables(client)
  }
  await client.query('insert into migrations (name, oldest) values ($1, $2)', [name, oldest])
}

async function changeFunctions(client: pg.PoolClient, folder?: string) {
  if ((await applyFunctions(client, folder)) && (await isDistributed((text) => client.query(text)))) await distributeNewTables(client)
}

/** Rejects a migration that would break running processes. A process registers while it holds the same lock. */
async function checkRunning(client: pg.PoolClient, name: string, oldest: string) {
  const older = (await listRunningVersions(client)).filter((newest) => newest < oldest)
  if (older.length)
    throw setupProblem(
      `The migration ${name} cannot run while processes of an earlier version run (${older.length}, the oldest with ${older[0]}). Stop them and try again. A killed process counts as running for ${LEASE_SECONDS} seconds.`,
    )
}

/**
 * The newest migration of the oldest version whose processes can keep running after this migration. During a deploy, old and
 * new processes share the database. The first line of a compatible migration names it: `-- Runs beside 0005_operations_baseline.sql`.
 */
function oldestBeside(name: string, text: string) {
  const [, beside] = /^-- Runs beside (\S+)/.exec(text) ?? []
  return beside ?? name
}

/** The missing migrations, and whether no version has migrated the database further than this one. */
async function compareMigrations(connection: Connection, files: string[]) {
  const { rows } = await connection.query<{ name: string; oldest: string }>('select * from migrations order by name')
  const newest = files.at(-1) as string
  if (rows.length && !rows.some(({ name }) => name === files[0]))
    throw setupProblem('The database was created by a version of Assay that this one cannot upgrade. Use an empty database.')
  const foreign = rows.findLast(({ name, oldest }) => !files.includes(name) && oldest > newest)
  if (foreign)
    throw setupProblem(
      `The database has a migration that is not compatible with this version of Assay (${foreign.name}). Start the version that ran it, or use an empty database.`,
    )
  const done = new Set(rows.map(({ name }) => name))
  return { missing: files.filter((name) => !done.has(name)), isNewest: rows.every(({ name }) => name <= newest) }
}

/** The migrations that a start would run, and those of them that need all processes of the earlier version stopped. */
export async function pendingMigrations(pool: pg.Pool, folder = migrationsFolder) {
  const { rows } = await pool.query<{ known: boolean }>("select to_regclass('migrations') is not null as known")
  const files = await migrationFiles(folder)
  const missing = rows[0]?.known ? (await compareMigrations(pool, files)).missing : files
  const newest = files.findLast((name) => !missing.includes(name))
  const breaking: string[] = []
  for (const name of newest ? missing : [])
    if (oldestBeside(name, await readFile(join(folder, name), 'utf8')) > (newest as string)) breaking.push(name)
  return { missing, breaking }
}
