import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { migrationFiles } from '../../src/platform/db/schema/migrate.ts'
import { assay } from '../cli/assay.ts'
import { cleanEnv, type Env, readCredentials } from '../support/process.ts'
import { query } from '../support/query.ts'
import { emptyDatabase, errorOf, newDatabase, newDataDir } from '../support/world.ts'
import {
  adminOf,
  apiOf,
  clientsOf,
  databaseWithCatalog,
  externalDatabase,
  oneProcess,
  start,
  startFailure,
  startInProcess,
} from './support/start.ts'

const fixed = { BOOTSTRAP_TEAM_API_KEY: 'fixed-team-key-for-tests', BOOTSTRAP_MANAGEMENT_KEY: 'fixed-management-key-for-tests' }
const fixedKeys = { team_api_key: fixed.BOOTSTRAP_TEAM_API_KEY, management_key: fixed.BOOTSTRAP_MANAGEMENT_KEY }

const bootstrap = (env: Env, ...args: string[]) => assay(env['DATABASE_URL'] as string, cleanEnv(env)).run('bootstrap', ...args)

test('fixed keys work from the first start, survive a restart and stay revoked once revoked', async () => {
  const env = externalDatabase(await databaseWithCatalog(), fixed)
  const first = await startInProcess(env)
  expect(readCredentials(env['DATA_DIR'] as string)).toMatchObject(fixedKeys)
  await apiOf(first, fixedKeys).createUser({ body: { client_user_id: 'kept' } })
  await first.stop()

  const second = await startInProcess({ ...env, DATA_DIR: newDataDir() })
  expect((await apiOf(second, fixedKeys).listUsers()).total).toBe(1)
  const admin = adminOf(second, fixedKeys)
  const { org_id } = readCredentials(env['DATA_DIR'] as string)
  expect((await admin.getOrg({ params: { org_id } })).id).toBe(org_id)
  for (const table of ['orgs', 'team_api_keys', 'management_keys'])
    expect(await query(env['DATABASE_URL'] as string, `select 1 from ${table}`)).toHaveLength(1)
  await query(env['DATABASE_URL'] as string, 'update team_api_keys set revoked_at = now()')
  await second.stop()

  const third = await startInProcess(env)
  expect((await errorOf(apiOf(third, fixedKeys).listUsers())).status).toBe(401)
  expect((await adminOf(third, fixedKeys).getOrg({ params: { org_id } })).id).toBe(org_id)
})

test.each([
  ['pk_eu_0123456789abcdef', 'production eu'],
  ['pk_us_0123456789abcdef', 'production us'],
  ['sk_eu_0123456789abcdef', 'sandbox eu'],
])('rejects the fixed key %s of the %s deployment and leaves the database unclaimed', async (BOOTSTRAP_TEAM_API_KEY, name) => {
  const env = externalDatabase(await databaseWithCatalog(), { BOOTSTRAP_TEAM_API_KEY })
  expect(await startFailure(env)).toMatch(new RegExp(`^BOOTSTRAP_TEAM_API_KEY belongs to the ${name} deployment; this is sandbox us`))
  expect(await bootstrap(env, '--org', 'A', '--team', 'B')).toMatchObject({
    code: 1,
    err: expect.stringContaining(`belongs to the ${name} deployment`),
  })
  expect(await query(env['DATABASE_URL'] as string, 'select 1 from deployment')).toEqual([])
})

test('does not start on an empty production database, and bootstrap prepares it for any region', async () => {
  const env = externalDatabase(await emptyDatabase(), { ENVIRONMENT: 'production', REGION: 'eu' })
  expect(await startFailure({ ...env, REGION: 'us' })).toMatch(/production does not create keys.* assay bootstrap --org NAME --team NAME/)

  const { code, out, err } = await bootstrap(env, '--org', 'Fjord', '--team', 'Care', '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const keys = JSON.parse(out)
  expect(keys.team_api_key).toMatch(/^pk_eu_/)

  const service = await startInProcess(env)
  expect(readCredentials(env['DATA_DIR'] as string)).toEqual({ base_url: service.url, org_id: keys.org_id, team_id: keys.team_id })
  expect((await apiOf(service, keys).listUsers()).total).toBe(0)
  expect((await adminOf(service, keys).getOrg({ params: { org_id: keys.org_id } })).name).toBe('Fjord')
  const sandboxKey = await errorOf(apiOf(service, { team_api_key: `sk_us_${'0'.repeat(46)}` }).listUsers())
  expect(sandboxKey).toMatchObject({ status: 401, detail: { error_message: expect.stringMatching(/sandbox us.*this is production eu/) } })
})

test('production starts with fixed keys', async () => {
  const env = externalDatabase(await newDatabase(), { ENVIRONMENT: 'production', ...fixed })
  const service = await startInProcess(env)
  expect(readCredentials(env['DATA_DIR'] as string)).toMatchObject(fixedKeys)
  expect((await apiOf(service, fixedKeys).listUsers()).total).toBe(0)
})

test('rejects a database of another key, environment or region', async () => {
  const env = externalDatabase(await databaseWithCatalog())
  await (await startInProcess(env)).stop()
  const startWith = (change: Env) => startFailure({ ...env, ...change })
  const another = 'another-key-0123456789abcdef0123456789abcdef'

  const result = await startWith({ ENCRYPTION_KEY: another })
  expect(result).toMatch(/^ENCRYPTION_KEY is not the key that encrypted this database/)
  expect(result).not.toContain(another)
  expect(await startWith({ REGION: 'eu' })).toMatch(
    /belongs to the sandbox us deployment, but ENVIRONMENT and REGION are set to sandbox eu/,
  )
  expect(await startWith({ ENVIRONMENT: 'production' })).toMatch(
    /belongs to the sandbox us deployment, but ENVIRONMENT and REGION are set to production us/,
  )
  await startInProcess(env)
})

test('rejects a database with an incompatible migration, and does not change it', async () => {
  const url = await newDatabase()
  await query(url, "insert into migrations (name, oldest) values ('9999_from_the_future.sql', '9999_from_the_future.sql')")
  expect(await startFailure(externalDatabase(url))).toMatch(
    /a migration that is not compatible with this version of Assay \(9999_from_the_future\.sql\)\. Start the version that ran it/,
  )
  expect(await query(url, 'select 1 from deployment')).toEqual([])
})

test('rejects a database that an older version created before the baseline, and does not change it', async () => {
  const url = await newDatabase()
  await query(url, "update migrations set name = '0001_tenants.sql' where name = '0001_tenants_baseline.sql'")
  expect(await startFailure(externalDatabase(url))).toMatch(
    'The database was created by a version of Assay that this one cannot upgrade. Use an empty database.',
  )
  expect(await query(url, 'select 1 from deployment')).toEqual([])
})

test('a process is registered with its newest migration until it stops', async () => {
  const env = externalDatabase(await databaseWithCatalog())
  const service = await startInProcess(env)
  const registered = () => query(env['DATABASE_URL'] as string, 'select newest from processes')
  expect(await registered()).toEqual([{ newest: (await migrationFiles()).at(-1) }])
  await service.stop()
  expect(await registered()).toEqual([])
})

test('stops after a migration that it cannot run beside', async () => {
  const env = externalDatabase(await databaseWithCatalog(), oneProcess)
  const service = await start(env)
  await query(
    env['DATABASE_URL'] as string,
    "insert into migrations (name, oldest) values ('9999_from_the_future.sql', '9999_from_the_future.sql')",
  )
  expect((await service.exited).code).toBe(0)
  expect(await query(env['DATABASE_URL'] as string, 'select 1 from processes')).toEqual([])
})

test('PUBLIC_URL is the base_url in the credentials', async () => {
  const env = externalDatabase(await databaseWithCatalog(), { PUBLIC_URL: 'https://assay.example.org/' })
  await startInProcess(env)
  expect(readCredentials(env['DATA_DIR'] as string).base_url).toBe('https://assay.example.org')
})

test('replaces a damaged credentials file with working keys', async () => {
  const env = externalDatabase(await databaseWithCatalog())
  const dataDir = env['DATA_DIR'] as string
  await (await startInProcess(env)).stop()
  for (const damage of ['', 'null', '{"team_api_key": 5}', '{"team_api_key":']) {
    writeFileSync(`${dataDir}/credentials.json`, damage)
    const service = await startInProcess(env)
    expect((await clientsOf(service, dataDir).api.listUsers()).total).toBe(0)
    await service.stop()
  }
})
