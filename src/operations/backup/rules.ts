import { setupProblem } from '../../platform/problem.ts'

/** This version must have every migration of the database that was backed up. */
export function checkVersions(migrations: string[], ours: string[]) {
  const unknown = migrations.filter((name) => !ours.includes(name))
  if (unknown.length)
    throw setupProblem(
      `The backup has a migration that this version of Assay does not have (${unknown.sort().at(-1)}); restore it with the version that wrote it`,
    )
}

export const databaseNotEmpty = () =>
  setupProblem(
    'The database is not empty, and a restore never overwrites data: set DATABASE_URL to an empty database, or DATA_DIR to an empty folder',
  )

export const databaseDistributed = () =>
  setupProblem('The tables are already distributed: restore into an empty database of the coordinator, then run assay migrate --distribute')
