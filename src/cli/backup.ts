import { checkBackup, restoreBackup, streamBackup, writeBackup } from '../operations/backup/actions.ts'
import { storageOf } from '../operations/backup/storage.ts'
import { findLostTeams } from '../operations/epochs/actions.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { setupProblem } from '../platform/problem.ts'
import { keyEncryptionOf } from '../platform/sealing/settings.ts'
import { checkAudit } from '../tenants/audit/verification.ts'
import { command, print } from './command.ts'
import { progress } from './progress.ts'
import { recordOperator } from './record-operator.ts'
import { withApp, withDatabase } from './with-app.ts'

const file = {
  value: 'FILE',
  what: 'Backup file, an object such as s3://BUCKET/KEY, or - for standard input.',
  required: true,
  file: true,
} as const

const sourceOf = (file: string, config: Config) => (file === '-' ? process.stdin : storageOf(file, config).read())

export const backupCommand = command({
  name: 'backup',
  summary:
    'Write a consistent backup of the whole database to a file. The service can keep running. The output names the server that the command read from: the read replica, or the primary if there is no replica or it cannot be used. The file is encrypted with a key of the database, which ENCRYPTION_KEY or your key management service decrypts. Neither is part of it, so store the key separately.',
  options: {
    file: {
      ...file,
      what: 'Backup file to write, an object such as s3://BUCKET/KEY, or - for standard output. The file or object must not exist.',
    },
  },
  examples: [
    'assay backup --file assay-$(date +%F).backup',
    'assay backup --file s3://BUCKET/assay.backup',
    'assay backup --file - | gpg --encrypt > assay.backup.gpg',
  ],
  async run({ file, json }) {
    const bar = progress('rows', undefined)
    const written = await withApp(async (app, { database }) => {
      const replica = await app.replica?.caughtUp()
      const source = { database, replica, vault: app.vault }
      const written =
        file === '-' ? await streamBackup(source, process.stdout, bar.add) : await writeBackup(source, storageOf(file, app.config), bar.add)
      return recordOperator(
        app,
        'backup',
        async () => written,
        () => `backup:${written.created_at}`,
      )
    })
    bar.end()
    if (file === '-') return
    print(json, { file, ...written }, [
      `wrote ${written.rows} rows of ${written.tables} tables to ${file}, read from the ${written.read_from}`,
    ])
  },
})

export const checkBackupCommand = command({
  name: 'backup check',
  summary: 'Check that a backup is complete and that Assay wrote it. The command needs the key, but no database.',
  options: { file },
  async run({ file, json }) {
    const bar = progress('rows', undefined)
    const config = readConfig()
    const summary = await checkBackup(sourceOf(file, config), keyEncryptionOf(config, true), bar.add)
    bar.end()
    print(json, summary, [
      `complete and authentic: ${summary.rows} rows, ${summary.environment} ${summary.region}, written ${summary.created_at} by version ${summary.version}`,
    ])
  },
})

export const restoreCommand = command({
  name: 'restore',
  summary:
    'Restore a backup into an empty database and verify the audit chain. A failed restore leaves the database empty. The command rejects a backup that was changed, and one of another deployment, another ENCRYPTION_KEY or a newer version. Set ENCRYPTION_KEY_PREVIOUS to restore a backup from before ENCRYPTION_KEY was replaced.',
  options: { file },
  examples: ['DATABASE_URL=postgres://… ENCRYPTION_KEY=… assay restore --file assay-2026-11-15.backup'],
  async run({ file, json }) {
    // Reading the key first avoids creating an embedded database for a restore that cannot succeed.
    const keyEncryption = keyEncryptionOf(readConfig(), true)
    const bar = progress('rows', undefined)
    const restored = await withDatabase(
      (database, config) => restoreBackup(database, { config, keyEncryption }, sourceOf(file, config), bar.add),
      true,
    )
    bar.end()
    const { broken, rows: audited, lost } = await withApp(async (app) => ({ ...(await checkAudit(app)), lost: await findLostTeams(app) }))
    if (lost.length)
      throw setupProblem(
        `The backup is restored, but the keys of the users of ${lost.length} teams cannot be opened (${lost.slice(0, 3).join(', ')}); if it is older than ERASURE_ESCROW_DAYS, they were destroyed in Vault, so use a newer backup`,
      )
    if (broken)
      throw setupProblem(
        `The backup is restored, but its audit log is broken at row ${broken.seq} of chain ${broken.chain_id}: ${broken.reason}`,
      )
    print(json, { ...restored, audit_rows: audited }, [
      `restored ${restored.rows} rows of the backup of ${restored.created_at}; the audit log of ${audited} rows is intact`,
    ])
  },
})
