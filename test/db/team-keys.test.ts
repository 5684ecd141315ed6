import { expect, inject, test } from 'vitest'
import { databaseUrl } from '../support/databases.ts'
import { placementsIn } from '../support/placement.ts'
import { query } from '../support/query.ts'

const url = databaseUrl(inject('adminUrl'), inject('template'))
const placed = await placementsIn(url)

/** Tables that are the same for every team, or that find a team by something that is unique across teams. */
const globalTables = new Set([...placed.reference, ...placed.local, ...Object.keys(placed.spread)])

type Key = { table: string; kind: 'p' | 'u' | 'f'; columns: string[]; target: string | null; target_columns: string[] }

/** Primary keys, unique constraints and indexes, and foreign keys. */
const keys = () =>
  query<Key>(
    url,
    `select c.relname as table, case when i.indisprimary then 'p' else 'u' end as kind, null as target, '{}'::text[] as target_columns,
       array(select a.attname::text from unnest(i.indkey) with ordinality k (n, at) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n order by k.at) as columns
     from pg_index i join pg_class c on c.oid = i.indrelid
     where i.indisunique and c.relnamespace = 'public'::regnamespace and not c.relispartition
     union all
     select f.conrelid::regclass::text, 'f', f.confrelid::regclass::text,
       array(select a.attname::text from unnest(f.confkey) with ordinality k (n, at) join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.n order by k.at),
       array(select a.attname::text from unnest(f.conkey) with ordinality k (n, at) join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.n order by k.at)
     from pg_constraint f join pg_class t on t.oid = f.conrelid where f.contype = 'f' and f.conparentid = 0 and f.connamespace = 'public'::regnamespace`,
  )

const isTeamColumn = (column: string | undefined) => column === 'team_id' || column === 'chain_id'

test('every table without a team says where a cluster stores it', async () => {
  const primary = (await keys()).filter(({ kind }) => kind === 'p')
  const withoutTeam = primary.filter(({ columns }) => !isTeamColumn(columns[0])).map(({ table }) => table)
  expect(withoutTeam.sort()).toEqual([...globalTables].sort())
  for (const [table, column] of Object.entries(placed.spread)) expect(primary.find((key) => key.table === table)?.columns).toContain(column)
})

test('no table of a team refers to one that stays on the coordinator', async () => {
  const wrong = (await keys()).filter(
    ({ kind, table, target }) => kind === 'f' && placed.local.includes(target as string) && !placed.local.includes(table),
  )
  expect(wrong).toEqual([])
})

test('every delegated function exists once, and the team or the audit chain is its first argument', async () => {
  const found = await query<{ name: string; argument: string; type: string }>(
    url,
    `select proname as name, proargnames[1] as argument, proargtypes[0]::regtype::text as type from pg_proc
     where pronamespace = 'public'::regnamespace and proname = any ($1) order by proname`,
    [placed.delegated],
  )
  const expected = placed.delegated.map((name) => ({ name, argument: name.endsWith('_audit') ? 'chain_id' : 'team_id', type: 'uuid' }))
  expect(found).toEqual(expected)
  expect(placed.delegated).toContain('place_orders')
})

test('a comment in the schema says where a cluster stores a table or runs a function', () => {
  const known = /^(on every server|on the coordinator|spread by \w+|on the server of its first argument)$/
  expect(placed.comments.filter((comment) => !known.test(comment))).toEqual([])
})

test('every key of a team’s table begins with the team', async () => {
  const all = await keys()
  const withoutKey = (await tables()).filter((table) => !all.some((key) => key.table === table && key.kind === 'p'))
  const wrong = all.filter(
    ({ table, kind, columns, target }) =>
      !globalTables.has(table) && (kind !== 'f' || !globalTables.has(target as string)) && !isTeamColumn(columns[0]),
  )
  expect({ withoutKey, wrong }).toEqual({ withoutKey: [], wrong: [] })
})

test('a foreign key between tables of a team includes the team on both sides', async () => {
  const wrong = (await keys()).filter(
    ({ kind, table, target, columns, target_columns }) =>
      kind === 'f' &&
      !globalTables.has(table) &&
      !globalTables.has(target as string) &&
      (columns[0] !== 'team_id' || target_columns[0] !== 'team_id'),
  )
  expect(wrong).toEqual([])
})

test('a global table never refers to a table of a team', async () => {
  const wrong = (await keys()).filter(
    ({ kind, table, target }) => kind === 'f' && globalTables.has(table) && !globalTables.has(target as string),
  )
  expect(wrong).toEqual([])
})

const tables = async () =>
  (
    await query<{ name: string }>(
      url,
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
  ).map(({ name }) => name)
