import type { Readable, Writable } from 'node:stream'
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
import { backupWriter, openBackup, type Reader } from './file.ts'
import type { BackupHeader } from './format.ts'
import * as rules from './rules.ts'
import type { Storage } from './storage.ts'

type OnRows = (rows: number) => void

type Source = { database: Database; replica?: Database | undefined; vault: Vault }

/** Backs up the whole database as of one moment while the service runs. If the replica fails, the backup starts over on the primary. */
export async function writeBackup({ database, replica, vault }: Source, storage: Storage, onRows: OnRows) {
  if (await storage.exists()) throw setupProblem('The file already exists; choose another name')
  const write = (from: Database) => storage.write((openOutput) => writeSnapshot(from, vault, openOutput, onRows))
  const fromPrimary = async () => ({ ...(await write(database)), read_from: 'primary' as const })
  if (!replica) return fromPrimary()
  try {
    return { ...(await write(replica)), read_from: 'replica' as const }
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    return fromPrimary()
  }
}

/** Writes a backup to a stream, which cannot start over, so it reads from the primary. */
export async function streamBackup({ database, vault }: Source, output: Writable, onRows: OnRows) {
  return { ...(await writeSnapshot(database, vault, () => output, onRows)), read_from: 'primary' as const }
}

async function writeSnapshot(from: Database, vault: Vault, openOutput: () => Writable, onRows: OnRows) {
  const header = await headerOf(from)
  const connection = await from.pool.connect()
  const file = backupWriter(openOutput(), vault, header)
  try {
    await dump.beginSnapshot(connection)
    return { ...(await writeAll(connection, file, onRows)), created_at: header.created_at }
  } catch (error) {
    file.abort(error as Error)
    throw error
  } finally {
    connection.release(true)
  }
}

type Header = Parameters<typeof backupWriter>[2]

async function headerOf({ db }: Database): Promise<Header> {
  const deployment = await findDeployment(db)
  if (!deployment) throw setupProblem('The database is empty; there is nothing to back up')
  // The database has the values of the settings, which are checked at each start.
  const { environment, region } = deployment as Pick<BackupHeader, 'environment' | 'region'>
  return {
    version,
    created_at: new Date().toISOString(),
    environment,
    region,
    key_check: deployment.key_check.toString('hex'),
    roots: (await listRoots(db)).map(({ ended: _, ...root }) => ({ ...root, wrapped: root.wrapped.toString('base64') })),
  }
}

async function writeAll(connection: PoolConnection, file: ReturnType<typeof backupWriter>, onRows: OnRows) {
  const tables = await dump.tablesOf(connection)
  await file.contents({
    migrations: await dump.migrationsOf(connection),
    tables,
    partitions: await dump.partitionsOf(connection),
  })
  let rows = 0
  for (const table of tables)
    for await (const batch of dump.rowsOf(connection, table)) {
      for (const row of batch) await file.row(table.name, row)
      rows += batch.length
      onRows(batch.length)
    }
  await file.end({ rows, sequences: await dump.sequencesOf(connection) })
  return { rows, tables: tables.length }
}

/** Checks that a backup is complete and that Assay wrote it, without a database. */
export async function checkBackup(source: Readable, keyEncryption: KeyEncryption, onRows: OnRows) {
  const { header, read } = await openBackup(source)
  const file = await read(await vaultOf(keyEncryption, header))
  for await (const _ of file.rows) onRows(1)
  const { environment, region, created_at, key_version } = header
  const { migrations, tables } = file.contents
  return { version: header.version, created_at, environment, region, key_version, migrations, tables: tables.length, rows: file.end().rows }
}

type Target = { config: Config; keyEncryption: KeyEncryption }

/** Restores a backup into an empty database, completely or not at all. */
export async function restoreBackup(database: Database, target: Target, source: Readable, onRows: OnRows) {
  const { header, read } = await openBackup(source)
  const { environment, region, key_check } = header
  checkDeployment({ environment, region }, deploymentOf(target.config), 'backup')
  const vault = await vaultOf(target.keyEncryption, header)
  checkDatabase({ environment, region, key_check: Buffer.from(key_check, 'hex') }, identityOf({ ...target, vault }), 'backup')
  const file = await read(vault)
  rules.checkVersions(file.contents.migrations, await migrationFiles())
  if (await hasData(database.db)) throw rules.databaseNotEmpty()
  if (await isDistributed((text) => database.pool.query(text))) throw rules.databaseDistributed()
  await migrate(database.pool, { only: file.contents.migrations })
  const rows = await loadAll(database, file, onRows)
  await migrate(database.pool)
  return { rows, created_at: header.created_at, version: header.version }
}

/** The vault of the backup. Its versions of the root are encrypted with the key-encryption key of that time. */
async function vaultOf(keyEncryption: KeyEncryption, { roots }: BackupHeader): Promise<Vault> {
  const wrapped = roots.map((root) => ({ ...root, wrapped: Buffer.from(root.wrapped, 'base64'), ended: root.retired }))
  return newVault(keyEncryption, await unwrapRoots(keyEncryption, wrapped, 'backup'))
}

async function loadAll(database: Database, file: Reader, onRows: OnRows) {
  const { tables, partitions } = file.contents
  const connection = await database.pool.connect()
  try {
    rules.checkTables(tables, await dump.tablesOf(connection))
    rules.checkNames(
      'partitioned table',
      partitions.map(({ parent }) => parent),
      await dump.partitionedTablesOf(connection),
    )
    const finish = await dump.beginLoad(connection, tables)
    await dump.createPartitions(connection, partitions)
    await loadRows(connection, file, onRows)
    const { sequences, rows } = file.end()
    const ours = (await dump.sequencesOf(connection)).map(({ name }) => name)
    rules.checkNames(
      'sequence',
      sequences.map(({ name }) => name),
      ours,
    )
    await dump.setSequences(connection, sequences)
    await finish()
    return rows
  } finally {
    // Closes the session, which rolls back an unfinished transaction.
    connection.release(true)
  }
}

const BATCH_SIZE = 500

async function loadRows(connection: PoolConnection, { contents, rows }: Reader, onRows: OnRows) {
  const tables = new Map(contents.tables.map((table) => [table.name, table]))
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
