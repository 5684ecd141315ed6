import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newDatabase } from '../support/world.ts'

/** The rows of the table in security.md. */
function documented() {
  const page = readFileSync(`${root}/docs/security.md`, 'utf8')
  const [, rows = ''] = /<!-- columns:.*?-->(.*)<!-- \/columns -->/s.exec(page) ?? []
  const cells = [...rows.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)]
  return Object.fromEntries(
    cells.map(([, name, columns = '']) => [name, [...columns.matchAll(/`(\w+)`/g)].map(([, column]) => column).sort()]),
  )
}

test('security.md lists every column of the database that is neither encrypted nor hashed', async () => {
  const rows = await query<{ name: string; columns: string[] }>(
    await newDatabase(),
    `select c.relname as name, array_agg(a.attname::text order by a.attname collate "C") as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.atttypid <> 'bytea'::regtype and a.attname not in ('terms', 'password')
     group by c.relname`,
  )
  expect(documented()).toEqual(Object.fromEntries(rows.map(({ name, columns }) => [name, columns])))
})

test('the columns for words and passwords, which are text, contain hashes', async () => {
  const rows = await query<{ name: string }>(
    await newDatabase(),
    "select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public' and column_name in ('terms', 'password')",
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(['orders.terms', 'people.password', 'unmatched_results.terms', 'user_info.terms'])
})
