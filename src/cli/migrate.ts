import type { Database } from '../platform/db/open.ts'
import { distribute } from '../platform/db/schema/distribute.ts'
import { migrate, pendingMigrations } from '../platform/db/schema/migrate.ts'
import { handOverAudit } from '../tenants/audit/owner/actions.ts'
import { command, print } from './command.ts'
import { withDatabase } from './with-app.ts'

export const migrateCommand = command({
  name: 'migrate',
  summary:
    'Run pending database migrations, and hand the audit log to AUDIT_OWNER_ROLE if it is set. Starting the service runs migrations too. Assay does not run a migration that would break running processes of an earlier version. With --check the command exits with 1 if any are pending.',
  options: {
    check: { what: 'List pending migrations without running them, and mark those that need all processes stopped.' },
    distribute: { what: 'Then distribute the tables over a Citus cluster. Later migrations distribute the tables that they add.' },
  },
  async run({ check, distribute, json }) {
    if (check) return listPending(json)
    const { ran, distributed, owner } = await withDatabase(async (database, { AUDIT_OWNER_ROLE: owner }) => {
      const ran = await migrate(database.pool)
      const distributed = distribute ? await distributeTables(database) : undefined
      if (owner) await handOverAudit(database, owner)
      return { ran, distributed, owner }
    }, true)
    const lines = [
      ...ran.map((name) => `ran ${name}`),
      ...(distributed ?? []).map((name) => `distributed ${name}`),
      ...(owner ? [`the audit log belongs to ${owner}`] : []),
    ]
    print(
      json,
      { ran, ...(distributed && { distributed }), ...(owner && { audit_owner: owner }) },
      lines.length ? lines : ['no pending migrations'],
    )
  },
})

async function listPending(json: boolean) {
  const { missing, breaking } = await withDatabase(({ pool }) => pendingMigrations(pool), false)
  const lines = missing.map((name) => `pending ${name}${breaking.includes(name) ? '; stop all processes before it runs' : ''}`)
  print(json, { missing, breaking }, missing.length ? lines : ['no pending migrations'])
  if (missing.length) process.exitCode = 1
}

async function distributeTables({ pool }: Database) {
  const connection = await pool.connect()
  // Closes the connection, which rolls back an unfinished transaction.
  return distribute(connection).finally(() => connection.release(true))
}
