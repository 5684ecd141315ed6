import { setupProblem } from '../../platform/problem.ts'

/** A backup must come from this version or an older one. */
export function checkVersions(migrations: string[], ours: string[]) {
  const newer = migrations.filter((name) => !ours.includes(name))
  if (newer.length)
    throw setupProblem(`The backup comes from a newer version (${newer.sort().at(-1)}); restore it with that version or newer`)
}

export const databaseNotEmpty = () =>
  setupProblem(
    'The database is not empty, and a restore never overwrites data: set DATABASE_URL to an empty database, or DATA_DIR to an empty folder',
  )
