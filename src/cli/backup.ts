import { checkBackup, restoreBackup, writeBackup } from '../operations/backup/actions.ts'
import { readConfig } from '../platform/config.ts'
import { encryptionKey } from '../platform/data-dir.ts'
import { setupProblem } from '../platform/problem.ts'
import { openVault } from '../platform/sealing/vault.ts'
import { verifyAudit } from '../tenants/audit/actions.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp, withDatabase } from './command.ts'
import { progress } from './progress.ts'

const file = { value: 'FILE', what: 'The backup.', required: true, file: true } as const

export const backupCommand = command({
  name: 'backup',
  summary:
    'Write the whole database into a file, as it is at one moment, beside a running service. What is sealed stays sealed: ENCRYPTION_KEY is not in it, so keep that in another place.',
  options: { file: { ...file, what: 'Where to write it; it must not exist.' } },
  examples: ['assay backup --file assay-$(date +%F).backup'],
  async run({ file, json }) {
    const bar = progress('rows', undefined)
    const written = await withApp(async (app, database) => {
      const written = await writeBackup(database, file, bar.add)
      return recordOperator(
        app,
        'backup',
        async () => written,
        () => `backup:${written.created_at}`,
      )
    })
    bar.end()
    print(json, { file, ...written }, [`wrote ${written.rows} rows of ${written.tables} tables to ${file}`])
  },
})

export const checkBackupCommand = command({
  name: 'backup check',
  summary: 'Read a backup through and say whether it is whole. Needs neither a database nor the key.',
  options: { file },
  async run({ file, json }) {
    const bar = progress('rows', undefined)
    const found = await checkBackup(file, bar.add)
    bar.end()
    print(json, found, [
      `whole: ${found.rows} rows, ${found.environment} ${found.region}, made ${found.created_at} by version ${found.version}`,
    ])
  },
})

export const restoreCommand = command({
  name: 'restore',
  summary:
    'Put a backup into an empty database, all of it or nothing, and verify the audit chain. Refuses another deployment, another ENCRYPTION_KEY, a newer version, and a database that holds anything.',
  options: { file },
  examples: ['DATABASE_URL=postgres://… ENCRYPTION_KEY=… assay restore --file assay-2026-11-15.backup'],
  async run({ file, json }) {
    // Without the key nothing is begun: an embedded database would be made for it.
    const vault = openVault(encryptionKey(readConfig(), true))
    const bar = progress('rows', undefined)
    const restored = await withDatabase((database, config) => restoreBackup(database, { config, vault }, file, bar.add), true)
    bar.end()
    const { broken, rows: audited } = await withApp(verifyAudit)
    if (broken) throw setupProblem(`Restored, but the audit chain is broken at row ${broken.seq}: ${broken.reason}`)
    print(json, { ...restored, audit_rows: audited }, [
      `restored ${restored.rows} rows of the backup of ${restored.created_at}; the audit chain of ${audited} rows is intact`,
    ])
  },
})
