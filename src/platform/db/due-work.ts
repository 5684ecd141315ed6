import { createHash } from 'node:crypto'
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { type Db, prepareSearch } from './open.ts'
import type { Tables } from './tables.ts'

/** Selects rows if there is work at this time. Its order is that of an index, so that the first row is found without a scan. */
export type Search = (db: Db, wall: string) => Expression<unknown>

/** Combines searches into one statement, which returns the names of those that find work. */
export function combineSearches(searches: { name: string; search: Search }[]) {
  const names = searches.map(({ name }) => name).join()
  // Two statements on a connection cannot share a name.
  const statement = `due_work_${createHash('sha256').update(names).digest('hex').slice(0, 8)}`
  const find = prepareSearch(statement, (db, wall: string) => {
    const found = searches.map(
      ({ name, search }) => sql`(select ${sql.lit(name)} as name from (${search(db, wall)}) work limit ${sql.lit(1)})`,
    )
    return sql<{ name: string }>`${sql.join(found, sql` union all `)}`
  })
  return async (db: Db, wall: string) => (await find(db, wall)).map(({ name }) => name)
}

/** The time on the clock of a team, in a query that joins `teams`. */
export const teamTime = (wall: string) => sql<string>`${wall}::timestamptz + teams.clock_offset_ms * interval '1 millisecond'`

/** The latest time on any team's clock. Nothing is due after it, so the index skips what is planned for later. */
export const latestTeamTime = (teams: SelectQueryBuilder<Tables, 'teams', {}>, wall: string) =>
  sql<string>`${teams.select(sql<string>`${wall}::timestamptz + max(teams.clock_offset_ms) * interval '1 millisecond'`.as('at'))}`
