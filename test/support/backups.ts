import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { backupWriter, openBackup } from '../../src/operations/backup/file.ts'
import type { BackupHeader, Contents, End } from '../../src/operations/backup/format.ts'
import type { Vault } from '../../src/platform/sealing/vault.ts'
import { temporaryFolder } from './world.ts'

type Row = { table: string; row: string }
export type Plain = { header: BackupHeader; contents: Contents; rows: Row[]; end: End }

/** Decrypts a backup. */
export async function readBackup(path: string, vault: Vault): Promise<Plain> {
  const { header, read } = await openBackup(createReadStream(path))
  const file = await read(vault)
  const rows: Row[] = []
  for await (const row of file.rows) rows.push(row)
  return { header, contents: file.contents, rows, end: file.end() }
}

/** Writes a backup as someone could who has the key. The types do not limit what they write. */
export async function writeForged(vault: Vault, { header, contents, rows, end }: Plain) {
  const path = join(temporaryFolder(), 'forged.backup')
  const { assay_backup: _, key_version: __, salt: ___, ...rest } = header
  const file = backupWriter(createWriteStream(path), vault, rest)
  await file.contents(contents)
  for (const { table, row } of rows) await file.row(table, row)
  await file.end(end)
  return path
}
