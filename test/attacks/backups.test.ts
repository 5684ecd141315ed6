import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { assay } from '../cli/assay.ts'
import { type Plain, readBackup, writeForged } from '../support/backups.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newBytes } from '../support/seeded.ts'
import { ENCRYPTION_KEY, emptyDatabase, temporaryFolder, world } from '../support/world.ts'

const w = await world()
const path = join(temporaryFolder(), 'one.backup')
let bytes: Buffer
let plain: Plain

beforeAll(async () => {
  await placeOrder(w.api)
  await w.runJobs()
  await assay(w.url).run('backup', '--file', path)
  bytes = readFileSync(path)
  plain = await readBackup(path, w.app.vault)
})

/** The error of a restore, which must leave the database without rows. */
async function rejectionOf(file: string, env: Record<string, string> = {}) {
  const url = await emptyDatabase()
  const { code, err } = await assay(url, env).run('restore', '--file', file)
  expect([code, err]).toEqual([1, expect.stringMatching(/^[^\n]+\n$/)])
  const [{ exists } = { exists: false }] = await query<{ exists: boolean }>(url, "select to_regclass('orgs') is not null as exists")
  if (exists) expect(await query(url, 'select from orgs')).toEqual([])
  return { url, err }
}

const fileOf = (content: Buffer) => {
  const file = join(temporaryFolder(), 'changed.backup')
  writeFileSync(file, content)
  return file
}

const headerEndOf = (content: Buffer) => content.indexOf('\n') + 1

/** A backup of several chunks: its header, and each encrypted chunk. */
async function aLongBackup() {
  const rows = Array.from({ length: 4 }, (_, n) => ({ code: `Z${n}`, label: newBytes(60_000).toString('hex') }))
  const long = [...plain.rows, ...rows.map((row) => ({ table: 'icd_codes', row: JSON.stringify(row) }))]
  const content = readFileSync(await writeForged(w.app.vault, { ...plain, rows: long, end: { ...plain.end, rows: long.length } }))
  const chunks: Buffer[] = []
  for (let at = headerEndOf(content); at < content.length; at += chunks.at(-1)?.length ?? 0)
    chunks.push(content.subarray(at, at + 4 + content.readUInt32BE(at)))
  return { chunks, withChunks: (list: Buffer[]) => fileOf(Buffer.concat([content.subarray(0, headerEndOf(content)), ...list])) }
}

describe('without the key', () => {
  test('a backup reveals its header only', () => {
    for (const word of [...Object.values(people[0]), w.team_id, 'webhooks', 'sealing_keys']) expect(bytes.includes(word)).toBe(false)
    expect(JSON.parse(bytes.subarray(0, headerEndOf(bytes)).toString())).toMatchObject({ assay_backup: 2, key_version: 1 })
  })

  test('a file of the earlier format with a recomputed hash is refused', async () => {
    const { header, contents, rows } = plain
    const lines = [
      JSON.stringify({ ...header, ...contents, assay_backup: 1 }),
      ...rows.map(({ table, row }) => `{"table":"${table}","row":${row}}`),
    ]
    const digest = createHash('sha256').update(lines.join('')).digest('hex')
    const forged = fileOf(gzipSync([...lines, JSON.stringify({ end: { rows: rows.length, sequences: [], digest } })].join('\n')))
    expect((await rejectionOf(forged)).err).toContain('is not an Assay backup')
  })

  test.each(['region', 'created_at', 'version', 'key_check', 'salt'] as const)('a header with another %s is refused', async (field) => {
    const others = {
      region: 'eu',
      created_at: '2020-01-01T00:00:00.000Z',
      version: '9.9.9',
      key_check: 'ab'.repeat(32),
      salt: Buffer.alloc(32).toString('base64'),
    }
    const header = JSON.stringify({ ...plain.header, [field]: others[field] })
    const forged = fileOf(Buffer.concat([Buffer.from(`${header}\n`), bytes.subarray(headerEndOf(bytes))]))
    await rejectionOf(forged, field === 'region' ? { REGION: 'eu' } : {})
  })

  test('a root that someone else made is refused', async () => {
    const [theirs, ENCRYPTION_KEY] = [await emptyDatabase(), 'the key of someone else 0123456789abcdef']
    const file = join(temporaryFolder(), 'theirs.backup')
    await assay(theirs, { ENCRYPTION_KEY }).run('bootstrap', '--org', 'Harbor Health', '--team', 'Harbor')
    await assay(theirs, { ENCRYPTION_KEY }).run('backup', '--file', file)
    expect((await rejectionOf(file)).err).toContain('ENCRYPTION_KEY is not the key')
  })

  test('a chunk that is changed, moved, repeated or left out is refused', async () => {
    const { chunks: all, withChunks } = await aLongBackup()
    const [first, second, ...others] = all as [Buffer, Buffer, Buffer, ...Buffer[]]
    expect(others).not.toEqual([])
    expect(await assay(w.url).run('backup', 'check', '--file', withChunks(all))).toMatchObject({ code: 0 })
    const flipped = Buffer.from(second)
    flipped[100] = (flipped[100] as number) ^ 1
    for (const list of [
      [first, flipped, ...others],
      [second, first, ...others],
      [first, first, second, ...others],
      [first, ...others],
      [...all, first],
    ])
      expect((await rejectionOf(withChunks(list))).err).toMatch(/was changed/)
    expect((await rejectionOf(withChunks(all.slice(0, -1)))).err).toMatch(/was cut off/)
    expect((await rejectionOf(fileOf(bytes.subarray(0, -7)))).err).toMatch(/was cut off/)
  })

  test('the check of a backup finds the same', async () => {
    const checked = await assay(w.url).run('backup', 'check', '--file', fileOf(bytes.subarray(0, -7)))
    expect(checked).toMatchObject({ code: 1, err: expect.stringContaining('was cut off') })
    expect(await assay('', { DATABASE_URL: 'postgres://nowhere' }).run('backup', 'check', '--file', path)).toMatchObject({ code: 0 })
  })
})

describe('with the key, but with text that would run as SQL', () => {
  const INJECTION = 'orgs"; create table injected (id integer); --'
  const bound = "for values from ('2026-01-01') to ('2026-01-02'); create table injected (id integer)"

  test.each<[string, (plain: Plain) => unknown]>([
    ['a table', ({ contents }) => ({ ...contents, tables: [...contents.tables, { name: INJECTION, columns: ['id'] }] })],
    ['a column', ({ contents }) => ({ ...contents, tables: [{ name: 'orgs', columns: ['id', INJECTION] }] })],
    ['a partition', ({ contents }) => ({ ...contents, partitions: [{ parent: INJECTION, day: '2026-01-01' }] })],
    ['a day', ({ contents }) => ({ ...contents, partitions: [{ parent: 'events', day: bound }] })],
    ['a bound', ({ contents }) => ({ ...contents, partitions: [{ parent: 'events', day: '2026-01-01', bound }] })],
    ['a migration', ({ contents }) => ({ ...contents, migrations: [...contents.migrations, '../../x.sql'] })],
  ])('%s is refused', async (_, change) => {
    const forged = await writeForged(w.app.vault, { ...plain, contents: change(plain) as Plain['contents'] })
    const { url, err } = await rejectionOf(forged)
    expect(err).toContain('unknown version')
    expect(await query(url, "select to_regclass('injected') as found")).toEqual([{ found: null }])
  })

  test.each<[string, (plain: Plain) => Partial<Plain>]>([
    ['pg_authid', ({ contents }) => ({ contents: { ...contents, tables: [{ name: 'pg_authid', columns: ['oid'] }] } })],
    ['orgs.surplus', ({ contents }) => ({ contents: { ...contents, tables: [{ name: 'orgs', columns: ['id', 'surplus'] }] } })],
    ['users', ({ contents }) => ({ contents: { ...contents, partitions: [{ parent: 'users', day: '2026-01-01' }] } })],
    ['pg_toast', ({ end }) => ({ end: { ...end, sequences: [{ name: 'pg_toast', last: '1' }] } })],
  ])('%s, which is not ours, is refused', async (name, change) => {
    const { err } = await rejectionOf(await writeForged(w.app.vault, { ...plain, ...change(plain) }))
    expect(err).toContain(name)
    expect(err).toContain('which Assay does not have')
  })

  test('a row of a table that is not listed, and one that is not an object, are refused', async () => {
    const rows = [...plain.rows, { table: 'pg_authid', row: '{"oid":1}' }]
    const listed = await writeForged(w.app.vault, { ...plain, rows, end: { ...plain.end, rows: rows.length } })
    expect((await rejectionOf(listed)).err).toContain('rows of a table that it does not list')
    const text = [...plain.rows, { table: 'orgs', row: '1]) ; drop table orgs; --' }]
    const forged = await writeForged(w.app.vault, { ...plain, rows: text, end: { ...plain.end, rows: text.length } })
    expect((await rejectionOf(forged)).err).toContain('an invalid line')
  })
})

test('a backup streams through a pipe, encrypted, and back', async () => {
  const [file, url] = [join(temporaryFolder(), 'piped.backup'), await emptyDatabase()]
  const shell = (database: string, command: string) =>
    spawnSync('sh', ['-c', command], {
      env: { PATH: process.env['PATH'], DATABASE_URL: database, ENCRYPTION_KEY, DATA_DIR: temporaryFolder() },
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
    })
  const assayCommand = `${process.execPath} bin/assay.mjs`
  expect(shell(w.url, `${assayCommand} backup --file - | cat > ${file}`)).toMatchObject({ status: 0, stdout: '' })
  const restored = shell(url, `cat ${file} | ${assayCommand} restore --file - --json`)
  expect(restored).toMatchObject({ status: 0 })
  expect(JSON.parse(restored.stdout).rows).toBeGreaterThanOrEqual(plain.rows.length)
})
