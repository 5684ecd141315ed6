import { setupProblem } from '../../platform/problem.ts'

/** This version must have every migration of the database that was backed up. */
export function checkVersions(migrations: string[], ours: string[]) {
  const unknown = migrations.filter((name) => !ours.includes(name))
  if (unknown.length)
    throw setupProblem(
      `The backup has a migration that this version of Assay does not have (${unknown.sort().at(-1)}); restore it with the version that wrote it`,
    )
}

type Table = { name: string; columns: string[] }

/** The backup may only name tables and columns that the migrations created. */
export function checkTables(tables: Table[], ours: Table[]) {
  const columns = new Map(ours.map((table) => [table.name, new Set(table.columns)]))
  for (const table of tables) {
    const known = columns.get(table.name)
    if (!known) throw unknownPart(`the table ${table.name}`)
    const column = table.columns.find((name) => !known.has(name))
    if (column) throw unknownPart(`the column ${table.name}.${column}`)
  }
}

/** Refuses names of sequences, or of tables with partitions, that are not ours. */
export function checkNames(kind: string, names: string[], ours: string[]) {
  const unknown = names.find((name) => !ours.includes(name))
  if (unknown) throw unknownPart(`the ${kind} ${unknown}`)
}

const unknownPart = (what: string) => setupProblem(`The backup names ${what}, which Assay does not have. Use another backup`)

export const databaseNotEmpty = () =>
  setupProblem(
    'The database is not empty, and a restore never overwrites data: set DATABASE_URL to an empty database, or DATA_DIR to an empty folder',
  )

export const databaseDistributed = () =>
  setupProblem('The tables are already distributed: restore into an empty database of the coordinator, then run assay migrate --distribute')
