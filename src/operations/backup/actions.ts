import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { version } from '../../contract/version.ts'
import { type Config, deploymentOf } from '../../platform/config.ts'
import * as dump from '../../platform/db/dump.ts'
import { isDatabaseUnavailable } from '../../platform/db/errors.ts'
import type { Database, PoolConnection } from '../../platform/db/open.ts'
import { isDistributed } from '../../platform/db/schema/distribute.ts'
import { migrate, migrationFiles } from '../../platform/db/schema/migrate.ts'
import { setupProblem } from '../../platform/problem.ts'
import type { KeyEncryption } from '../../platform/sealing/key-encryption.ts'
import { unwrapRoots } from '../../platform/sealing/roots.ts'
import { listRoots } from '../../platform/sealing/store.ts'
import { newVault, type Vault } from '../../platform/sealing/vault.ts'
import { findDeployment, hasData, identityOf } from '../deployment/actions.ts'
import { checkDatabase, checkDeployment } from '../deployment/rules.ts'
import { type BackupHeader, backupReader, backupWriter, type Reader } from './file.ts'
import * as rules from './rules.ts'

type OnRows = (rows: number) => void

type Source = { database: Database; replica?: Database | undefined }

/** Backs up the whole database as of one moment while the service runs. Encrypted data stays encrypted. If the replica fails, the backup starts over on the primary. */
export async function writeBackup({ database, replica }: Source, path: string, onRows: OnRows) {
  if (existsSync(path)) throw setupProblem('The file already exists; choose another name')
  const fromPrimary = async () => ({ ...(await writeSnapshot(database, path, onRows)), read_from: 'primary' as const })
  if (!replica) return fromPrimary()
  try {
    return { ...(await writeSnapshot(replica, path, onRows)), read_from: 'replica' as const }
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    return fromPrimary()
  }
}

async function writeSnapshot(database: Database, path: string, onRows: OnRows) {
  const part = `${path}.part`
  await rm(part, { force: true })
  const connection = await database.pool.connect()
  try {
    await dump.beginSnapshot(connection)
    const written = await writeAll(connection, await headerOf(database, connection), part, onRows)
    await rename(part, path)
    return written
  } finally {
    await rm(part, { force: true })
    connection.release(true)
  }
}

async function headerOf({ db }: Database, connection: PoolConnection): Promise<BackupHeader> {
  const deployment = await findDeployment(db)
  if (!deployment) throw setupProblem('The database is empty; there is nothing to back up')
  const { environment, region, key_check } = deployment
  return {
    assay_backup: 2,
    version,
    created_at: new Date().toISOString(),
    environment,
    region,
    key_check: key_check.toString('hex'),
    roots: (await listRoots(db)).map((root) => ({ ...root, wrapped: root.wrapped.toString('base64') })),
    migrations: await dump.migrationsOf(connection),
    tables: await dump.tablesOf(connection),
    partitions: await dump.partitionsOf(connection),
  }
}

async function writeAll(connection: PoolConnection, header: BackupHeader, path: string, onRows: OnRows) {
  const file = backupWriter(path)
  await file.header(header)
  let rows = 0
  for (const table of header.tables)
    for await (const batch of dump.rowsOf(connection, table)) {
      for (const row of batch) await file.row(table.name, row)
      rows += batch.length
      onRows(batch.length)
    }
  await file.end({ rows, sequences: await dump.sequencesOf(connection) })
  return { rows, tables: header.tables.length, created_at: header.created_at }
}

/** Checks that a backup is complete and readable, without a database. */
export async function checkBackup(path: string, onRows: OnRows) {
  const file = await backupReader(path)
  for await (const _ of file.rows) onRows(1)
  const { assay_backup: _, key_check: __, roots: ___, partitions: ____, tables, ...summary } = file.header
  return { ...summary, tables: tables.length, rows: file.end().rows }
}

type Target = { config: Config; keyEncryption: KeyEncryption }

/** Restores a backup into an empty database, completely or not at all. */
export async function restoreBackup(database: Database, target: Target, path: string, onRows: OnRows) {
  const file = await backupReader(path)
  const { environment, region, key_check, migrations } = file.header
  checkDeployment({ environment, region }, deploymentOf(target.config), 'backup')
  const vault = await vaultOf(target, file.header)
  checkDatabase({ environment, region, key_check: Buffer.from(key_check, 'hex') }, identityOf({ ...target, vault }), 'backup')
  rules.checkVersions(migrations, await migrationFiles())
  if (await hasData(database.db)) throw rules.databaseNotEmpty()
  if (await isDistributed((text) => database.pool.query(text))) throw rules.databaseDistributed()
  await migrate(database.pool, { only: migrations })
  const rows = await loadAll(database, file, onRows)
  await migrate(database.pool)
  return { rows, created_at: file.header.created_at, version: file.header.version }
}

/** The vault of the backup. Its versions of the root are encrypted with the key-encryption key of that time. */
async function vaultOf({ keyEncryption }: Target, { roots }: BackupHeader): Promise<Vault> {
  const wrapped = roots.map((root) => ({ ...root, wrapped: Buffer.from(root.wrapped, 'base64') }))
  return newVault(keyEncryption, await unwrapRoots(keyEncryption, wrapped, 'backup'))
}

async function loadAll(database: Database, file: Reader, onRows: OnRows) {
  const connection = await database.pool.connect()
  try {
    const finish = await dump.beginLoad(connection, file.header.tables)
    await dump.createPartitions(connection, file.header.partitions)
    await loadRows(connection, file, onRows)
    await dump.setSequences(connection, file.end().sequences)
    await finish()
    return file.end().rows
  } finally {
    // Closes the session, which rolls back an unfinished transaction.
    connection.release(true)
  }
}

const BATCH_SIZE = 500

async function loadRows(connection: PoolConnection, { header, rows }: Reader, onRows: OnRows) {
  const tables = new Map(header.tables.map((table) => [table.name, table]))
  let batch: string[] = []
  let batchTable = ''
  const flush = async () => {
    const table = tables.get(batchTable)
    if (batch.length && !table) throw setupProblem('The backup has rows of a table that it does not list. Use another backup')
    if (batch.length && table) await dump.loadRows(connection, table, batch)
    onRows(batch.length)
    batch = []
  }
  for await (const { table, row } of rows) {
    if (table !== batchTable || batch.length >= BATCH_SIZE) await flush()
    batchTable = table
    batch.push(row)
  }
  await flush()
}
