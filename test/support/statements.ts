import { query } from './databases.ts'
import { isPlainDelete, isPlainRead, type TeamColumns, tablesWithoutTeam, undistributable } from './team-scope.ts'
import { asTestRole, TEST_PURPOSE, TEST_ROLE } from './test-role.ts'

/** A run with this variable does not check that statements name their team. */
export const UNCHECKED_STATEMENTS = 'TEST_UNCHECKED_STATEMENTS'

/** Records every statement, those inside SQL functions and foreign keys included. */
export const statementSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.track_utility': 'off',
  'pg_stat_statements.save': 'off',
  // Every test file has a database, and the same statement counts again in each.
  'pg_stat_statements.max': '250000',
}

export const statementSql = [
  'CREATE EXTENSION pg_stat_statements',
  `CREATE ROLE ${TEST_ROLE} SUPERUSER`,
  `GRANT ${TEST_ROLE} TO assay WITH INHERIT FALSE`,
]

/** The distinct statements that the service ran. */
export async function collectStatements(url: string) {
  const rows = await query<{ query: string; evicted: boolean }>(
    asTestRole(url),
    `select distinct query, (select dealloc > 0 from pg_stat_statements_info) as evicted
     from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname <> $1`,
    [TEST_ROLE],
  )
  if (rows[0]?.evicted) throw new Error('The run has more distinct statements than pg_stat_statements.max')
  // PostgreSQL itself reads both tables when a foreign key is added.
  return rows.map(({ query }) => query).filter((query) => !query.startsWith('SELECT fk.'))
}

/** A finder only reads, and each team's work is then done by statements of that team. Old rows are deleted at once. */
const isAllowedForAnyTeam = (statement: string, kind: string) => (kind === 'pruning' ? isPlainDelete(statement) : isPlainRead(statement))

/** The statements that leave out the team of a table, or that a distributed table does not support. */
export async function wrongStatements(url: string, statements: string[]) {
  const columns = await teamColumns(url)
  const problems = statements.flatMap((statement) => {
    const refused = undistributable(statement)
    if (refused.length) return [`${refused.join(', ')}: ${statement.slice(0, 300)}`]
    const tables = tablesWithoutTeam(statement, columns)
    if (!tables.length) return []
    const [, kind, purpose] = mark.exec(statement) ?? []
    if (!kind) return [`no team of ${tables.join(', ')}: ${statement.slice(0, 300)}`]
    return purpose === TEST_PURPOSE || isAllowedForAnyTeam(statement, kind)
      ? []
      : [`${kind}: ${purpose}: only reads without locks may be of any team, and only deletes may prune`]
  })
  return [...new Set(problems)]
}

/** The marks of `anyTeam` and `pruning`. */
const mark = /\/\* (any team|pruning): (.*?) \*\//

/** The tables of a team: those whose primary key begins with the team, and their partitions. */
async function teamColumns(url: string): Promise<TeamColumns> {
  const rows = await query<{ name: string; first: string }>(
    asTestRole(url),
    `select c.relname as name, a.attname as first
     from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where i.indisprimary and c.relnamespace = 'public'::regnamespace and a.attname in ('team_id', 'chain_id')`,
  )
  return new Map(rows.map(({ name, first }) => [name, first]))
}
