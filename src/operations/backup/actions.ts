import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { version } from '../../contract/version.ts'
import type { Config } from '../../platform/config.ts'
import * as dump from '../../platform/db/dump.ts'
import { migrate, migrationFiles } from '../../platform/db/migrate.ts'
import type { Database, PoolConnection } from '../../platform/db/open.ts'
import { setupProblem } from '../../platform/problem.ts'
import { derive } from '../../platform/sealing/seal.ts'
import type { Vault } from '../../platform/sealing/vault.ts'
import { findDeployment, holdsAnything } from '../deployment/actions.ts'
import * as rules from '../deployment/rules.ts'
import { backupReader, backupWriter, type Head, type Reader } from './file.ts'

export type Step = (rows: number) => void

/** Backs up the whole database as of one moment while the service runs. Encrypted data stays encrypted. */
export async function writeBackup(database: Database, path: string, step: Step) {
  if (existsSync(path)) throw setupProblem('The file already exists; choose another name')
  const part = `${path}.part`
  await rm(part, { force: true })
  const line = await database.pool.connect()
  try {
    await dump.beginSnapshot(line)
    const written = await writeAll(line, await headOf(database, line), part, step)
    await rename(part, path)
    return written
  } finally {
    await rm(part, { force: true })
    line.release(true)
  }
}

async function headOf({ db }: Database, line: PoolConnection): Promise<Head> {
  const deployment = await findDeployment(db)
  if (!deployment) throw setupProblem('The database is empty; there is nothing to back up')
  const { environment, region, key_check } = deployment
  return {
    assay_backup: 1,
    version,
    created_at: new Date().toISOString(),
    environment,
    region,
    key_check: key_check.toString('hex'),
    migrations: await dump.migrationsOf(line),
    tables: await dump.tablesOf(line),
    partitions: await dump.partitionsOf(line),
  }
}

async function writeAll(line: PoolConnection, head: Head, path: string, step: Step) {
  const file = backupWriter(path)
  await file.head(head)
  let rows = 0
  for (const table of head.tables)
    for await (const some of dump.rowsOf(line, table)) {
      for (const row of some) await file.row(table.name, row)
      rows += some.length
      step(some.length)
    }
  await file.end({ rows, sequences: await dump.sequencesOf(line) })
  return { rows, tables: head.tables.length, created_at: head.created_at }
}

/** Checks that a backup is complete and readable, without a database. */
export async function checkBackup(path: string, step: Step) {
  const file = await backupReader(path)
  for await (const _ of file.rows) step(1)
  const { assay_backup: _, key_check: __, partitions: ___, tables, ...told } = file.head
  return { ...told, tables: tables.length, rows: file.end().rows }
}

type Place = { config: Config; vault: Vault }

/** Restores a backup into an empty database, completely or not at all. */
export async function restoreBackup(database: Database, { config, vault }: Place, path: string, step: Step) {
  const file = await backupReader(path)
  const { environment, region, key_check, migrations } = file.head
  const ours = { environment: config.ENVIRONMENT, region: config.REGION, key_check: derive(vault.root, 'check value') }
  rules.checkDatabase({ environment, region, key_check: Buffer.from(key_check, 'hex') }, ours, 'backup')
  rules.checkVersions(migrations, await migrationFiles())
  if (await holdsAnything(database.db)) throw rules.notEmpty()
  await migrate(database.pool, migrations)
  const rows = await loadAll(database, file, step)
  await migrate(database.pool)
  return { rows, created_at: file.head.created_at, version: file.head.version }
}

async function loadAll(database: Database, file: Reader, step: Step) {
  const line = await database.pool.connect()
  try {
    const finish = await dump.beginLoad(line, file.head.tables)
    await dump.createPartitions(line, file.head.partitions)
    await loadRows(line, file, step)
    await dump.setSequences(line, file.end().sequences)
    await finish()
    return file.end().rows
  } finally {
    // Closes the session, which rolls back an unfinished transaction.
    line.release(true)
  }
}

const AT_ONCE = 500

async function loadRows(line: PoolConnection, { head, rows }: Reader, step: Step) {
  const tables = new Map(head.tables.map((table) => [table.name, table]))
  let some: string[] = []
  let of = ''
  const flush = async () => {
    const table = tables.get(of)
    if (some.length && !table) throw setupProblem('The backup has rows of a table that it does not list. Use another backup')
    if (some.length && table) await dump.loadRows(line, table, some)
    step(some.length)
    some = []
  }
  for await (const { table, row } of rows) {
    if (table !== of || some.length >= AT_ONCE) await flush()
    of = table
    some.push(row)
  }
  await flush()
}
