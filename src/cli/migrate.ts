import { migrate, pendingMigrations } from '../platform/db/migrate.ts'
import { command, print, withDatabase } from './command.ts'

export const migrateCommand = command({
  name: 'migrate',
  summary:
    'Bring the database to the schema of this version, as a start does. --check only says what is missing; exit code 1 when something is.',
  options: { check: { what: 'Run nothing.' } },
  async run({ check, json }) {
    const names = await withDatabase(async ({ pool }) => {
      if (!check) return migrate(pool)
      const line = await pool.connect()
      return pendingMigrations(line).finally(() => line.release())
    }, !check)
    const lines = names.map((name) => `${check ? 'missing' : 'ran'} ${name}`)
    print(json, check ? { missing: names } : { ran: names }, lines.length ? lines : ['nothing is missing'])
    if (check && names.length) process.exitCode = 1
  },
})
