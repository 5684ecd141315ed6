import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadCommand } from '../../src/cli/load-command.ts'
import { commands } from '../../src/cli/table.ts'
import { version } from '../../src/contract/version.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { ENCRYPTION_KEY, newDatabase, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

let database: string
let cli: ReturnType<typeof assay>
beforeAll(async () => {
  database = await newDatabase()
  cli = assay(database)
})

test.each([[[]], [['help']], [['--help']], [['-h']]])('%j lists every command', async (args) => {
  const { code, out, err } = await cli.run(...args)
  expect([code, err]).toEqual([0, ''])
  for (const { name } of commands) expect(out).toContain(`  assay ${name}`)
})

test('every command has a unique name, help for every option and --json', async () => {
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length)
  for (const { name, options } of commands) {
    const { code, out } = await cli.run('help', ...name.split(' '))
    expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(new RegExp(`^assay ${name} .*\\[--json\\]$`))])
    for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(`^  --${option}\\b.*`, 'm'))
  }
})

test('loads every command by its name', async () => {
  for (const command of commands) expect(await loadCommand(command.name.split(' ')), command.name).toBe(command)
})

test('help --json prints the command table', async () => {
  const { commands: listed, exit_codes } = await cli.json('help')
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(commands.map(({ name }) => name))
  expect(Object.keys(exit_codes)).toEqual(['0', '1', '2', '130'])
  expect((await cli.json('help', 'keys', 'revoke')).commands).toMatchObject([
    { name: 'keys revoke', options: [{ name: 'id', required: true }, { name: 'json' }] },
  ])
})

test.each([
  [['keys', 'create', '--help'], 'assay keys create --kind'],
  [['org', '-h'], 'assay org '],
] as const)('%j prints the usage', async (args, line) => {
  expect(await cli.run(...args)).toMatchObject({ code: 0, out: expect.stringContaining(line), err: '' })
})

test.each([
  [['keys', '--help'], 'keys'],
  [['help', 'keys'], 'keys'],
  [['audit', '--help'], 'audit'],
] as const)('%j lists the commands of its group only', async (args, group) => {
  const { code, out, err } = await cli.run(...args)
  expect([code, err]).toEqual([0, ''])
  const names = commands.map(({ name }) => name).filter((name) => name.startsWith(`${group} `))
  expect(names).not.toEqual([])
  expect(out.match(/^ {2}assay \w+ [\w-]+/gm)).toEqual(names.map((name) => `  assay ${name}`))
})

test('a former group name works but is hidden', async () => {
  expect(await cli.json('help', 'catalogue')).toEqual(await cli.json('help', 'catalog'))
  expect(await cli.run('catalogue', 'load')).toMatchObject({ code: 2, err: expect.stringContaining('Usage: assay catalog load --file') })
  for (const args of [['help'], ['completion', 'bash'], ['completion', 'zsh'], ['completion', 'fish']])
    expect((await cli.run(...args)).out).not.toContain('catalogue')
})

test('--version prints the version', async () => {
  expect(await cli.run('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

test.each([
  [['dance'], 'Unknown command. Run assay help to list all commands.'],
  [['constructor'], 'Unknown command. Run assay help to list all commands.'],
  [['keys', 'melt'], 'Unknown command. Usage: assay keys COMMAND'],
  [['keys'], 'Incomplete command. Usage: assay keys COMMAND'],
  [['audit'], 'Incomplete command. Usage: assay audit COMMAND'],
])('rejects the unknown command %j', async (args, firstLine) => {
  const { code, out, err } = await cli.run(...args)
  expect([code, out, err.split('\n')[0]]).toEqual([2, '', firstLine])
})

test.each([
  [['srve'], 'assay serve'],
  [['key', 'list'], 'assay keys list'],
  [['keys', 'lits'], 'assay keys list'],
  [['help', 'ordres'], 'assay orders'],
  [['audit', 'verfy'], 'assay audit verify'],
])('%j suggests the closest command', async (args, near) => {
  const { code, out, err } = await cli.run(...args)
  expect([code, out, err]).toEqual([2, '', `Unknown command. Did you mean: ${near}? Run assay help to list all commands.\n`])
})

test('prints an error as JSON with --json', async () => {
  const { code, out, err } = await cli.run('keys', 'revoke', '--json')
  expect([code, out, JSON.parse(err)]).toEqual([2, '', { error: { type: 'USAGE', message: expect.stringContaining('--id is required') } }])
})

describe('wrong usage exits with 2 and explains the correct usage', () => {
  test.each<[string[], RegExp]>([
    [['bootstrap'], /--org is required/],
    [['bootstrap', '--org', 'x'], /--team is required/],
    [['bootstrap', '--org', 'x', '--team', 'y', '--plan', 'gold'], /--plan must be one of launch, grow, scale/],
    [['bootstrap', '--org'], /--org/],
    [['bootstrap', '--org', 'semi;colon', '--team', 'y'], /--org/],
    [['bootstrap', '--org', 'x', '--team', 'y'.repeat(81)], /--team/],
    [['org', '--plan'], /--plan/],
    [['org', '--paln', 'scale'], /^Unknown option --paln\. Did you mean --plan\?\nUsage: assay org/],
    [['org', '--moon'], /^Unknown option --moon\.\nUsage/],
    [['org', 'scale'], /Usage: assay org/],
    [['team', '--betas', 'x'], /--team is required/],
    [['keys', 'create', '--kind', 'team_admin', '--label', 'x'], /--team is required/],
    [['keys', 'forget'], /assay keys list/],
    [['team', '--team', newUuid()], /--betas is required/],
    [['team', '--team', 'mine', '--betas', ''], /--team must be a UUID/],
    [['keys', 'create'], /--kind is required/],
    [['keys', 'create', '--kind', 'root', '--label', 'x'], /--kind must be one of/],
    [['keys', 'create', '--kind', 'team'], /--label is required/],
    [['keys', 'create', '--kind', 'team', '--label', 'x', '--team', 'mine'], /--team must be a UUID/],
    [['keys', 'create', '--kind', 'team', '--label', 'x', '--expires', 'soon'], /--expires must be a date-time/],
    [['keys', 'create', '--kind', 'team', '--label', 'x'.repeat(101)], /--label must have at most 100/],
    [['keys', 'create', '--kind', 'org_admin', '--label', 'x', '--read-only'], /--read-only is for team keys only/],
    [['keys', 'create', '--kind', 'team_admin', '--label', 'x', '--expires', '2999-01-01T00:00:00Z'], /--expires is for team keys only/],
    [['keys', 'create', '--kind', 'org_admin', '--label', 'x', '--team', newUuid()], /--team does not apply to org_admin keys/],
    [['keys', 'revoke'], /--id is required/],
    [['keys', 'revoke', '--id', 'mine'], /--id must be a UUID/],
    [['lab-keys', 'create'], /--lab is required/],
    [['lab-keys', 'create', '--lab', 'x'], /--label is required/],
    [['lab-keys', 'revoke'], /--id is required/],
    [['lab-keys', 'revoke', '--id', 'mine'], /--id must be a UUID/],
    [['lab-accounts', 'create', '--lab', 'x'], /--provider-account-id is required/],
    [['lab-accounts', 'create', '--lab', 'x', '--provider-account-id', 'y', '--status', 'open'], /--status must be one of active, pending/],
    [
      ['lab-accounts', 'create', '--lab', 'x', '--provider-account-id', 'y', '--billing', 'client_bill'],
      /--billing must be a billing type with/,
    ],
    [
      ['lab-accounts', 'create', '--lab', 'x', '--provider-account-id', 'y', '--billing', 'client_bill=ZZ'],
      /--billing must be a billing type/,
    ],
    [
      ['lab-accounts', 'create', '--lab', 'x', '--provider-account-id', 'y', '--billing', 'cash=AZ'],
      /--billing must be one of client_bill/,
    ],
    [['lab-accounts', 'create', '--lab', 'x', '--provider-account-id', 'y', '--team', 'mine'], /--team must be a UUID/],
    [['lab-accounts', 'set-status', '--id', newUuid()], /--status is required/],
    [['catalog', 'load'], /--file is required/],
    [['catalog', 'load', 'file.json'], /Usage: assay catalog load --file/],
  ])('%j', async (args, text) => {
    const { code, out, err } = await cli.run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(text)
    expect(err).not.toMatch(/^ {4}at /m)
  })
})

test.each([
  [['dance', '--json'], /^Unknown command\. Run assay help to list all commands\.$/],
  [['oders', 'list', '--json'], /^Unknown command\. Did you mean: assay orders list\?/],
  [['keys', 'revoke', '--json'], /^--id is required/],
  [['keys', 'list', '--jsn', '--json'], /^Unknown option --jsn\. Did you mean --json\?/],
])('rejects %j with a JSON error', async (args, message) => {
  const { code, out, err } = await cli.run(...args)
  expect([code, out, JSON.parse(err)]).toEqual([2, '', { error: { type: 'USAGE', message: expect.stringMatching(message) } }])
})

test('the process exits with the same codes', async () => {
  const [helped, wrong] = await Promise.all([cli.spawnCommand('help'), cli.spawnCommand('keys', 'revoke')])
  expect(helped).toEqual({ code: 0, out: (await cli.run('help')).out, err: '' })
  expect(wrong.code).toBe(2)
})

describe('failures print one line without secrets', () => {
  const secrets = { ENCRYPTION_KEY: 'a-secret-that-nobody-else-may-see-0123456789', password: 'hunter2-hunter2' }
  const errorFor = async (env: Record<string, string>, from: 'run' | 'spawnCommand' = 'run') => {
    const result = await assay(database, env)[from]('keys', 'list')
    expect([result.code, result.out]).toEqual([1, ''])
    expect(result.err).toMatch(/^[^\n]+\n$/)
    for (const secret of [...Object.values(secrets), ENCRYPTION_KEY]) expect(result.err).not.toContain(secret)
    return result.err
  }

  test('a wrong ENCRYPTION_KEY', async () => {
    await cli.run('keys', 'list')
    expect(await errorFor({ ENCRYPTION_KEY: secrets.ENCRYPTION_KEY }, 'spawnCommand')).toContain('ENCRYPTION_KEY is not the key')
  })
  test('a missing ENCRYPTION_KEY', async () => {
    expect(await errorFor({ ENCRYPTION_KEY: '' })).toContain('ENCRYPTION_KEY is required')
  })
  test('a database of another deployment', async () => {
    await cli.run('keys', 'list')
    expect(await errorFor({ REGION: 'eu' })).toContain('belongs to the sandbox us deployment')
  })
  test('an unreachable database', async () => {
    expect(await errorFor({ DATABASE_URL: `postgres://assay:${secrets.password}@127.0.0.1:1/assay` })).toContain('cannot be used')
  })
  test('a missing database', async () => {
    const url = new URL(database)
    url.pathname = '/nowhere'
    expect(await errorFor({ DATABASE_URL: url.href })).toContain('cannot be used')
  })
  test('a DATA_DIR without a database, where none is created', async () => {
    const DATA_DIR = temporaryFolder()
    const nowhere = join(DATA_DIR, 'nowhere')
    for (const folder of [DATA_DIR, nowhere])
      expect(await errorFor({ DATABASE_URL: '', DATA_DIR: folder })).toContain(`DATA_DIR ${folder} has no database`)
    expect(readdirSync(DATA_DIR)).toEqual([])
  })
  test('an unexpected error, without its values', async () => {
    const own = await newDatabase()
    const cli = assay(own)
    await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    await query(
      own,
      "create function no_key(label text) returns boolean language plpgsql as $$ begin raise exception 'no % here', label; end $$",
    )
    await query(own, 'alter table team_api_keys add constraint no_key check (no_key(label)) not valid')
    const { code, out, err } = await cli.run('keys', 'create', '--kind', 'team', '--label', 'label-of-somebody')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^Failed unexpectedly: \{"name":"\w+"[^\n]+\n$/)
    expect(err).not.toContain('label-of-somebody')
  })
  test('does not repeat a key passed as an ID', async () => {
    const key = `mg_${'x'.repeat(46)}`
    for (const args of [
      ['revoke', '--id', key],
      ['revoke', key],
    ])
      expect((await cli.run('keys', ...args)).err).not.toContain(key)
  })
})
