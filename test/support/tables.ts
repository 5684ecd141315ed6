import { query } from './query.ts'

/** The tables in which a row contains one of the IDs. Partitions count as their table. */
export async function tablesWith(url: string, ...ids: string[]) {
  const tables = await query<{ name: string }>(
    url,
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
  )
  const each = tables.map(({ name }) => `select '${name}' as name where exists (select from ${name} t where t::text ~ $1)`)
  return (await query<{ name: string }>(url, `${each.join(' union all ')} order by name`, [ids.join('|')])).map(({ name }) => name)
}
