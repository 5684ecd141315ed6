import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { setupProblem } from '../problem.ts'

const folder = fileURLToPath(new URL('../../../migrations/', import.meta.url))
const LOCK_ID = 4_117_202_601

/** Runs missing migrations once, under a lock: replicas that start together wait for the one that migrates. `only` limits the run to these files. */
export async function migrate(pool: pg.Pool, only?: string[]) {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [LOCK_ID])
    await client.query('create table if not exists migrations (name text primary key, ran_at timestamptz not null default now())')
    const files = await migrationFiles()
    const missing = (await missingMigrations(client, files)).filter((name) => only?.includes(name) ?? true)
    for (const name of missing) await runMigration(client, name)
    return missing
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw setupProblem(`The database cannot be migrated: ${error.message}`)
    throw error
  } finally {
    // Closes the session with its lock and settings instead of returning it to the pool.
    client.release(true)
  }
}

export const migrationFiles = async () => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

async function missingMigrations(client: pg.PoolClient, files: string[]) {
  const { rows } = await client.query<{ name: string }>('select name from migrations')
  const done = new Set(rows.map((row) => row.name))
  const newer = [...done].filter((name) => !files.includes(name))
  if (newer.length)
    throw setupProblem(`The database was migrated by a newer version of Assay (${newer.sort().at(-1)}). Start that version or a newer one.`)
  return files.filter((name) => !done.has(name))
}

/** The migrations that a start would run. */
export async function pendingMigrations(client: pg.PoolClient) {
  const { rows } = await client.query<{ known: boolean }>("select to_regclass('migrations') is not null as known")
  const files = await migrationFiles()
  return rows[0]?.known ? missingMigrations(client, files) : files
}

async function runMigration(client: pg.PoolClient, name: string) {
  const sql = await readFile(folder + name, 'utf8')
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into migrations (name) values ($1)', [name])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
