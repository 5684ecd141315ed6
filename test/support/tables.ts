import { query } from './query.ts'

/** The tables in which a row contains one of the IDs. Partitions count as their table. */
export async function tablesWith(url: string, ...ids: string[]) {
  const tables = await query<{ name: string }>(
    url,
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname",
  )
  const has = await Promise.all(
    tables.map(async ({ name }) => (await query(url, `select from ${name} t where t::text ~ $1 limit 1`, [ids.join('|')])).length > 0),
  )
  return tables.filter((_, i) => has[i]).map(({ name }) => name)
}

/** The number of rows and a hash of every table, except for these and what is not part of a backup. */
export async function contentsOf(url: string, except: string[]) {
  const tables = await query<{ name: string }>(
    url,
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> all ($1) order by 1",
    [[...except, 'migrations', 'function_files', 'processes']],
  )
  const rows = await Promise.all(
    tables.map(async ({ name }) => [
      name,
      (await query(url, `select count(*), md5(string_agg(t::text, '|' order by t::text)) from "${name}" t`))[0],
    ]),
  )
  return Object.fromEntries(rows)
}
