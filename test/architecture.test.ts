import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Arrow, arrowsIn, isImplied, reachedBy } from './support/diagrams.ts'
import { cyclesOf, importsOf, type Program, parse, readsOf, writesOf } from './support/source-code.ts'
import { readsIn, schemaOf, type Write, writesIn } from './support/sql-writes.ts'
import { filesOfAllTables, schemaFunctionOwners, tableOwners } from './support/table-owners.ts'

/** The arrows of the room graph in ARCHITECTURE.md. */
const arrows = arrowsIn('Rooms')

/** The rooms that the arrows of a room lead to. */
const roomsBelow = (room: string) => [...reachedBy(arrows, room)]

/** The libraries that each room may import. */
const allowedLibraries: Record<string, string> = {
  contract: 'zod',
  platform: 'kysely pg pino undici zod',
  tenants: '@zxcvbn-ts/core @zxcvbn-ts/language-common kysely openid-client zod',
  delivery: 'amqplib google-auth-library kysely nodemailer undici zod',
  labs: 'fontkit kysely pdfkit ssh2 zod',
  wearables: 'kysely zod',
  operations: 'kysely pino zod',
  http: '@scalar/fastify-api-reference fastify marked prom-client zod',
  start: 'fastify pino',
  processes: 'pino prom-client',
  cli: 'pino zod',
}

/** Settings of Node, loaded before any room. */
const beforeRooms = 'compile-cache.ts'

const roomOf = (file: string) => file.split('/')[0]?.replace('.ts', '') ?? ''

/** Rooms whose folders are features. A feature has rules and a store, or several (`rules-zones.ts`); its other files are actions. */
const domainRooms = ['tenants', 'delivery', 'labs', 'wearables', 'operations']

/** A feature is a folder directly inside a domain room. Its subfolders are parts of it and share its stores. */
const featureOf = (file: string) => file.split('/').slice(0, 2).join('/')

const layerOf = (file: string) =>
  domainRooms.includes(roomOf(file)) ? (/\/(rules|store)(-[^/]+)?\.ts$/.exec(file)?.[1] ?? 'actions') : roomOf(file)

/** Files that may contain SQL. */
const hasSql = (file: string) =>
  file.startsWith('platform/db/') || layerOf(file) === 'store' || /^platform\/sealing\/(\w+\/)?store(-\w+)?\.ts$/.test(file)

/** Platform files that use no database, clock or disk. */
const purePlatform = ['config', 'outbound/address', 'outbound/outcome', 'problem', 'sealing/deflate', 'seeded-random', 'time'].map(
  (name) => `platform/${name}.ts`,
)

/** Node modules that only compute. */
const pureNode = /^node:(crypto|zlib)$/

const root = new URL('../src/', import.meta.url).pathname
const files = globSync('**/*.ts', { cwd: root }).map((file) => {
  const text = readFileSync(join(root, file), 'utf8')
  return { file, text, program: parse(file, text) }
})

describe.each(files)('$file', ({ file, text }) => {
  const room = roomOf(file)
  const layer = layerOf(file)
  const imports = [...text.matchAll(/(?:from |import\()'([^']+)'/g)].map(([, path]) => path as string)
  const ours = imports.filter((path) => path.startsWith('.')).map((path) => relative(root, join(root, dirname(file), path)))
  const node = imports.filter((path) => path.startsWith('node:'))
  const libraries = imports.filter((path) => !/^(\.|node:)/.test(path))

  test('imports only what its room may import', () => {
    const reachable = [room, ...roomsBelow(room)]
    expect(ours.filter((other) => other !== beforeRooms && !reachable.includes(roomOf(other)))).toEqual([])
    expect(libraries.filter((library) => !allowedLibraries[room]?.split(' ').includes(library))).toEqual([])
  })

  test('keeps rules pure and stores private to their feature', () => {
    if (layer === 'rules')
      expect(ours.filter((other) => !['contract', 'rules'].includes(layerOf(other)) && !purePlatform.includes(other))).toEqual([])
    if (layer === 'store') expect(ours.filter((other) => !['contract', 'platform', 'store'].includes(layerOf(other)))).toEqual([])
    if (['contract', 'rules', 'store'].includes(layer)) expect(node.filter((path) => !pureNode.test(path))).toEqual([])
    expect(ours.filter((other) => layerOf(other) === 'store' && featureOf(other) !== featureOf(file))).toEqual([])
  })

  test('follows the code conventions', () => {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, '')
    expect(code.includes('process.env')).toBe(file === 'platform/runtime/environment.ts')
    expect(/\bclass \w/.test(code)).toBe(['platform/problem.ts', 'platform/db/connections/clients.ts'].includes(file))
    expect(code).not.toMatch(/export default/)
    if (!hasSql(file)) expect(code).not.toMatch(/\b(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(<[^`]*>)?`/)
    if (layer === 'rules') expect(code).not.toMatch(/\bawait\b|new Date\(\)|Date\.now/)
  })
})

test('ARCHITECTURE.md draws every room, and nothing else', () => {
  const drawn = new Set(arrows.flat())
  expect([...drawn].sort()).toEqual([...new Set(files.filter(({ file }) => file !== beforeRooms).map(({ file }) => roomOf(file)))].sort())
})

const migrations = new URL('../migrations/', import.meta.url).pathname
const texts = globSync('*.sql', { cwd: migrations })
  .sort()
  .map((name) => readFileSync(join(migrations, name), 'utf8'))
const functionFiles = globSync('**/*.sql', { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
const schema = schemaOf([...texts, ...functionFiles.map(({ text }) => text)])

/** A function belongs to the feature whose file defines it. */
const ownersOf = new Map([
  ...schemaFunctionOwners,
  ...functionFiles.flatMap(({ file, text }) => [...schemaOf([text]).functions.keys()].map((name) => [name, featureOf(file)] as const)),
])

/** The owner of a table or of its partition. */
const ownerOf = (table: string) => tableOwners.get(schema.partitions.get(table) ?? table)

const isTable = (name: string) => ownerOf(name) !== undefined

/** The tables that features read in files and SQL functions, and do not own. */
const reads = [
  ...files
    .filter(({ file }) => hasSql(file))
    .map(({ file, program }) => ({ place: file, reader: featureOf(file), tables: readsOf(program, isTable) })),
  ...[...schema.functions.values()].map(({ name, body }) => ({
    place: `${name}()`,
    reader: ownersOf.get(name) ?? '',
    tables: readsIn(body, isTable),
  })),
]
  .flatMap(({ place, reader, tables }) => tables.map((table) => ({ place, reader, table, owner: ownerOf(table) ?? '' })))
  .filter(({ reader, owner }) => reader !== owner)

/** The imports between features of a room, with those of types. Files directly in a room belong to no feature. */
const featureImports = files.flatMap(({ file, program }) => {
  const from = featureOf(dirname(file))
  const targets = importsOf(program).filter(({ path }) => path.startsWith('.'))
  return targets
    .map(({ path }) => featureOf(dirname(relative(root, join(root, dirname(file), path)))))
    .filter((to) => from !== to && [from, to].every((feature) => feature.includes('/')) && roomOf(from) === roomOf(to))
    .map((to) => ({ from, to }))
})

const nameOf = (feature: string) => feature.split('/')[1] ?? ''

/** Features that read a table of a feature above them in their room. This list only shrinks. */
const upwardReads = ['labs/orders reads labs/appointments']

describe('features', () => {
  const rooms = [...new Set(featureImports.map(({ from }) => roomOf(from)))].sort()
  const importsIn = (room: string): Arrow[] =>
    featureImports.filter(({ from }) => roomOf(from) === room).map(({ from, to }) => [nameOf(from), nameOf(to)])

  test.each(rooms)('no feature of %s imports itself through others', (room) => {
    const graph = Map.groupBy(importsIn(room), ([from]) => from)
    expect(cyclesOf(new Map([...graph].map(([from, imports]) => [from, imports.map(([, to]) => to)])))).toEqual([])
  })

  test.each(rooms)('the features of %s import each other along the arrows of its diagram', (room) => {
    const strays = importsIn(room).filter(([from, to]) => !reachedBy(arrowsIn(room), from).has(to))
    expect([...new Set(strays.map((arrow) => arrow.join(' --> ')))]).toEqual([])
  })

  test.each(rooms)('the diagram of %s has no other arrows', (room) => {
    const readIn = reads.filter(({ reader, owner }) => roomOf(reader) === room && roomOf(owner) === room)
    const used: Arrow[] = [...importsIn(room), ...readIn.map(({ reader, owner }) => [nameOf(reader), nameOf(owner)] as const)]
    const drawn = arrowsIn(room)
    const isUsed = ([from, to]: Arrow) => used.some((arrow) => arrow[0] === from && arrow[1] === to)
    expect(drawn.filter((arrow) => !isUsed(arrow) || isImplied(drawn, arrow)).map((arrow) => arrow.join(' --> '))).toEqual([])
  })

  test('the arrows of a diagram are read with those that they imply', () => {
    const drawn: Arrow[] = [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c'],
      ['c', 'b'],
    ]
    expect([...reachedBy(drawn, 'a')].sort()).toEqual(['b', 'c'])
    expect(drawn.filter((arrow) => isImplied(drawn, arrow))).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ])
  })
})

describe('table ownership', () => {
  /** Writes to tables that the feature does not own: of another feature, unknown, or with a computed name. */
  const strayWrites = (feature: string, writes: Write[]) =>
    writes
      .filter(({ table = '' }) => tableOwners.get(schema.partitions.get(table) ?? table) !== feature)
      .map(({ verb, table }) => `${verb} ${table ?? 'a table with a computed name'}`)

  const strayWritesOf = (file: string, program: Program) =>
    strayWrites(
      featureOf(file),
      writesOf(program, (name) => tableOwners.has(name)),
    )

  test('every table and every SQL function has one owner', () => {
    expect([...tableOwners.keys()].sort()).toEqual([...schema.tables, 'migrations'].sort())
    expect([...schemaFunctionOwners.keys()].sort()).toEqual([...schemaOf(texts).functions.keys()].sort())
    const features = new Set(files.map(({ file }) => featureOf(file)))
    expect([...tableOwners.values(), ...ownersOf.values()].filter((feature) => !features.has(feature))).toEqual([])
  })

  test('SQL functions are defined once, each in the file of its feature', () => {
    expect(functionFiles.filter(({ file }) => file !== `${featureOf(file)}/functions.sql`)).toEqual([])
    const names = [...texts, ...functionFiles.map(({ text }) => text)].flatMap((text) =>
      [...text.matchAll(/^create (?:or replace )?function (\w+)/gm)].map(([, name]) => name),
    )
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    for (const { text } of functionFiles) expect(text).not.toMatch(/^create function|^alter|^create table/m)
  })

  test.each(files.filter(({ file }) => !filesOfAllTables.includes(file)))(
    '$file writes only tables of its feature',
    ({ file, program }) => {
      expect(strayWritesOf(file, program)).toEqual([])
    },
  )

  test.each([...schema.functions.values()])('$name() writes only tables of its owner', ({ name, writes }) => {
    expect(strayWrites(ownersOf.get(name) ?? '', writes)).toEqual([])
  })

  test('no store and no SQL function reads a table of a higher feature', () => {
    const mayRead = ({ reader, owner }: { reader: string; owner: string }) => {
      const room = roomOf(reader)
      if (room !== roomOf(owner)) return roomsBelow(room).includes(roomOf(owner))
      return reachedBy(arrowsIn(room), nameOf(reader)).has(nameOf(owner))
    }
    const pairOf = ({ reader, owner }: { reader: string; owner: string }) => `${reader} reads ${owner}`
    const upward = reads.filter((read) => !mayRead(read) && !upwardReads.includes(pairOf(read)))
    expect([...new Set(upward.map(({ place, table }) => `${place} reads ${table}`))]).toEqual([])
    expect(upwardReads.filter((pair) => !reads.some((read) => pairOf(read) === pair))).toEqual([])
  })

  test.each([
    ['a Kysely select with an alias', "db.selectFrom('orders as o').selectAll()", ['orders']],
    ['a Kysely select of several tables', "db.selectFrom(['orders', 'users as u'])", ['orders', 'users']],
    ['a Kysely join', "db.selectFrom(found).leftJoin('orders', (join) => join.onTrue())", ['orders']],
    ['a subquery', 'sql`(select count(*) from only public.orders o where o.id = 1)`', ['orders']],
    ['a list of tables', 'sql`select 1 from users u, unnest(array[1]) as i (id), orders`', ['users', 'orders']],
    ['a lateral join', 'sql`select 1 from found cross join lateral (select 1 from orders) o`', ['orders']],
    ['a source of an update', 'sql`update a set b = 1 from orders where true`', ['orders']],
    ['a source of a delete', 'sql`delete from users using orders where true`', ['orders']],
    ['a concatenated text', "prepareStatement('name', 'select 1 ' + 'from orders')", ['orders']],
    ['a function body', 'sql`do $$ begin perform 1 from orders; end $$`', ['orders']],
  ])('the check of reads finds %s', (_, text, found) => {
    expect(readsOf(parse('store.ts', text), isTable)).toEqual(found)
  })

  test.each([
    'sql`select extract(epoch from created_at) from found`',
    "sql`select 'from orders' -- from orders`",
    "db.updateTable('orders').set({ id })",
    'sql`delete from orders`',
  ])('the check of reads finds nothing in %s', (text) => {
    expect(readsOf(parse('store.ts', text), isTable)).toEqual([])
  })

  test.each([
    ['a Kysely insert', "db.insertInto('teams').values(row)", 'insert teams'],
    ['a Kysely update with an alias', "db.updateTable('teams as t').set(row)", 'update teams'],
    ['a Kysely delete inside a CTE', "db.with('gone', (db) => db.deleteFrom('teams')).selectFrom('gone')", 'delete teams'],
    ['a computed Kysely target', 'db.insertInto(table).values(row)', 'insert a table with a computed name'],
    ['a Kysely target of a union type', "const put = (table: 'orders' | 'teams') => db.insertInto(table)", 'insert teams'],
    ['an insert', `sql\`with a as (insert into teams as t (id) values (\${id})) select 1\``, 'insert teams'],
    ['an update', `sql\`update only public.teams t set name = \${name}\``, 'update teams'],
    ['a quoted name', `sql\`update "teams" set name = 'a'\``, 'update teams'],
    ['a merge', 'sql`merge into teams t using new on true`', 'merge teams'],
    ['a truncate of several tables', "client.query('truncate orders, teams cascade')", 'truncate teams'],
    ['a copy', "client.query('copy teams (id) from stdin')", 'copy teams'],
    ['a prepared statement from concatenated strings', "prepared('name', 'delete from ' + 'teams where id = $1')", 'delete teams'],
    ['a nested SQL text', `sql\`select 1 \${sql\`, (delete from teams returning 1)\`}\``, 'delete teams'],
    ['a SQL text with a computed target', `sql\`insert into \${sql.table(table)} select 1\``, 'insert a table with a computed name'],
    ['a partition', 'sql`delete from events_default`', 'delete events_default'],
    ['an unknown table', 'sql`insert into nowhere values (1)`', 'insert nowhere'],
  ])('the check finds %s', (_, text, found) => {
    expect(strayWritesOf('labs/orders/store.ts', parse('store.ts', text))).toEqual([found])
  })

  test.each([
    'sql`select id from teams for update of teams`',
    'sql`select id from teams for no key update`',
    'sql`insert into orders values (1) on conflict (id) do update set id = excluded.id`',
    "sql`select 'delete from teams where true' -- insert into teams`",
    "const summary = 'Update teams, copy results from a lab, delete users'",
    "db.updateTable('orders').set({ team_id })",
  ])('the check allows %s', (text) => {
    expect(strayWritesOf('labs/orders/store.ts', parse('store.ts', text))).toEqual([])
  })

  test('the check reads the last definition of a function, dynamic SQL included', () => {
    const first = 'create table a (id int); create function f() returns void language plpgsql as $$ begin delete from a; end $$;'
    const second =
      "create or replace function f() returns void language plpgsql as $$ begin execute format('truncate %I', 'a'); update a set id = 1; end $$;"
    expect(schemaOf([first]).functions.get('f')?.writes).toEqual([{ verb: 'delete', table: 'a' }])
    expect(schemaOf([first, second]).functions.get('f')?.writes).toEqual([
      { verb: 'update', table: 'a' },
      { verb: 'truncate', table: undefined },
    ])
    expect(schemaOf([first, 'drop function f; alter table a rename to b']).tables).toEqual(new Set(['b']))
    expect(writesIn('do $$ begin delete from a; end $$')).toEqual([{ verb: 'delete', table: 'a' }])
  })
})

test('no folder has more than fifteen files', () => {
  const folders = Map.groupBy(
    files.map(({ file }) => dirname(file)).filter((folder) => !['contract', 'cli'].includes(roomOf(folder))),
    (folder) => folder,
  )
  expect([...folders].filter(([, of]) => of.length > 15).map(([folder, of]) => `${folder} has ${of.length}`)).toEqual([])
})

/** Each file with the files that it imports. */
const loads = (root: string, files: { file: string; program: Program }[]) =>
  new Map(
    files.map(({ file, program }) => {
      const values = importsOf(program).filter(({ path, typeOnly }) => !typeOnly && path.startsWith('.'))
      return [file, values.map(({ path }) => relative(root, join(root, dirname(file), path)))]
    }),
  )

describe('the tests', () => {
  const names = globSync('**/*.ts', { cwd: import.meta.dirname }).sort()
  const chance = /\b(Math\.random|randomUUID|randomBytes|randomInt|getRandomValues)\b/

  test.each(names.filter((name) => name !== 'architecture.test.ts'))('%s draws its values from the seeded generator', (name) => {
    expect(readFileSync(join(import.meta.dirname, name), 'utf8')).not.toMatch(chance)
  })
})

describe('value imports', () => {
  test('no file imports itself through others', () => {
    expect(cyclesOf(loads(root, files))).toEqual([])
  })

  test('no room imports itself through others', () => {
    const between = [...loads(root, files)].map(([file, others]) => [roomOf(file), others.map(roomOf)] as const)
    const graph = Map.groupBy(between, ([room]) => room)
    const withoutSelf = [...graph].map(
      ([room, of]) => [room, of.flatMap(([, others]) => others).filter((other) => other !== room)] as const,
    )
    expect(cyclesOf(new Map(withoutSelf))).toEqual([])
  })

  test('finds cycles of any length', () => {
    const graph = new Map(Object.entries({ a: ['b'], b: ['c'], c: ['d', 'b'], d: ['e'], e: ['c'], f: ['f'], g: ['a'] }))
    expect(cyclesOf(graph)).toEqual([['b', 'c', 'd', 'e'], ['f']])
  })

  test('ignores type-only imports and counts inline type imports', () => {
    const imports = importsOf(
      parse('a.ts', "import type { A } from './a.ts'\nimport { type B } from './b.ts'\nexport * from './c.ts'\nimport('./d.ts')"),
    )
    expect(imports.filter(({ typeOnly }) => !typeOnly).map(({ path }) => path)).toEqual(['./b.ts', './c.ts', './d.ts'])
  })
})

describe('console', () => {
  const root = new URL('../console/src/', import.meta.url).pathname
  const files = globSync('**/*.{ts,tsx}', { cwd: root }).map((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return { file, text, program: parse(file, text) }
  })

  test('no file imports itself through others', () => {
    expect(cyclesOf(loads(root, files))).toEqual([])
  })

  test.each(files)('$file imports only contract types, the lifecycle and units from the service', ({ text }) => {
    const lines = [...text.matchAll(/^import (type )?.*'([^']+)'$/gm)].map(([, type, path]) => ({ type, path: path as string }))
    const outside = lines.filter(({ path }) => path.includes('../src/'))
    expect(outside.filter(({ path }) => !path.includes('/src/contract/'))).toEqual([])
    expect(outside.filter(({ type, path }) => !type && !/\/contract\/labs\/(lifecycle|unit-format)\.ts$/.test(path))).toEqual([])
    expect(lines.filter(({ path }) => !/^(\.|preact|uqr$|virtual:)/.test(path))).toEqual([])
    expect(text).not.toMatch(/\bclass \w+ |export default|dangerouslySetInnerHTML|innerHTML/)
  })
})
