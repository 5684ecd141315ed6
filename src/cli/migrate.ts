import { migrate, pendingMigrations } from '../platform/db/migrate.ts'
import { command, print } from './command.ts'
import { withDatabase } from './with-app.ts'

export const migrateCommand = command({
  name: 'migrate',
  summary: 'Run pending database migrations. Starting the service runs them too. With --check the command exits with 1 if any are pending.',
  options: { check: { what: 'List pending migrations without running them.' } },
  async run({ check, json }) {
    const names = await withDatabase(async ({ pool }) => {
      if (!check) return migrate(pool)
      const connection = await pool.connect()
      return pendingMigrations(connection).finally(() => connection.release())
    }, !check)
    const lines = names.map((name) => `${check ? 'pending' : 'ran'} ${name}`)
    print(json, check ? { missing: names } : { ran: names }, lines.length ? lines : ['no pending migrations'])
    if (check && names.length) process.exitCode = 1
  },
})
