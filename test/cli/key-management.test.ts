import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aKeyProgram, aTransit } from '../support/key-encryption.ts'
import { query } from '../support/query.ts'
import { ENCRYPTION_KEY, emptyDatabase, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

const bootstrap = ['bootstrap', '--org', 'Harbor Health', '--team', 'Harbor'] as const

/** The finding of the doctor about the key. */
async function keyFinding(url: string, env: Record<string, string>) {
  const { out } = await assay(url, env).run('doctor', '--quick', '--json')
  return JSON.parse(out).checks.find(({ name }: { name: string }) => name === 'encryption key')
}

async function rejectionOf(url: string, env: Record<string, string>, ...args: string[]) {
  const { code, err } = await assay(url, env).run(...(args.length ? args : ['keys', 'list']))
  expect(code).toBe(1)
  expect(err).toMatch(/^[^\n]+\n$/)
  return err
}

test('databases with the same ENCRYPTION_KEY have different keys', async () => {
  const urls = [await emptyDatabase(), await emptyDatabase()]
  for (const url of urls) await assay(url).run(...bootstrap)
  const checks = await Promise.all(urls.map((url) => query<{ key_check: Buffer }>(url, 'select key_check from deployment')))
  expect(checks[0]).not.toEqual(checks[1])
})

describe('the transit engine of Vault', () => {
  test('encrypts the root secret instead of ENCRYPTION_KEY', async () => {
    const [url, { env, received }] = [await emptyDatabase(), await aTransit()]
    const withVault = { ...env, ENCRYPTION_KEY: '', ENVIRONMENT: 'production' }
    expect(await assay(url, withVault).run(...bootstrap)).toMatchObject({ code: 0 })
    expect(await assay(url, withVault).run('keys', 'list')).toMatchObject({ code: 0 })
    expect(new Set(received)).toEqual(new Set(['/v1/transit/encrypt/assay', '/v1/transit/decrypt/assay']))
    expect(await query(url, 'select version, wrapped_by from root_keys')).toEqual([{ version: 1, wrapped_by: 'VAULT_TRANSIT_KEY assay' }])
    expect(await keyFinding(url, withVault)).toMatchObject({ state: 'ok' })
  })

  test('reads its token from a file, because an agent may renew it', async () => {
    const [url, { env, token }] = [await emptyDatabase(), await aTransit()]
    const path = join(temporaryFolder(), 'token')
    writeFileSync(path, `${token}\n`)
    const withFile = { ...env, ENCRYPTION_KEY: '', VAULT_TRANSIT_TOKEN: '', VAULT_TRANSIT_TOKEN_FILE: path }
    expect(await assay(url, withFile).run(...bootstrap)).toMatchObject({ code: 0 })
    expect(await rejectionOf(url, { ...withFile, VAULT_TRANSIT_TOKEN_FILE: '/nowhere' })).toContain(
      'VAULT_TRANSIT_TOKEN_FILE cannot be read',
    )
  })

  test('failures say what to check and reveal no token', async () => {
    const [url, { env, close, token }] = [await emptyDatabase(), await aTransit()]
    const withVault = { ...env, ENCRYPTION_KEY: '' }
    await assay(url, withVault).run(...bootstrap)
    expect(await rejectionOf(url, { ...withVault, VAULT_TRANSIT_TOKEN: 'hvs.expired' })).toMatch(
      /status 403\); check that VAULT_TRANSIT_TOKEN/,
    )
    expect(await rejectionOf(url, { ...withVault, VAULT_TRANSIT_URL: env.VAULT_TRANSIT_URL.replace('transit', 'kv') })).toContain(
      'check the path in VAULT_TRANSIT_URL',
    )
    expect(await rejectionOf(url, { ENCRYPTION_KEY })).toContain(
      'This database is encrypted with VAULT_TRANSIT_KEY assay, which is not set',
    )
    await close()
    const err = await rejectionOf(url, withVault)
    expect(err).toMatch(/^Vault cannot be reached at 127\.0\.0\.1:\d+ \(ECONNREFUSED\); check VAULT_TRANSIT_URL/)
    expect(err).not.toContain(token)
  })

  test('does not open a database that another key of Vault encrypted', async () => {
    const [url, ours, theirs] = [await emptyDatabase(), await aTransit(), await aTransit()]
    await assay(url, { ...ours.env, ENCRYPTION_KEY: '' }).run(...bootstrap)
    expect(await rejectionOf(url, { ...theirs.env, ENCRYPTION_KEY: '' })).toContain('check that VAULT_TRANSIT_KEY is the key')
  })

  test.each([
    [{ VAULT_TRANSIT_URL: 'http://vault.example.com/v1/transit' }, 'VAULT_TRANSIT_URL must be an https URL'],
    [{ VAULT_TRANSIT_URL: 'https://127.0.0.1/v1/transit' }, 'VAULT_TRANSIT_URL and VAULT_TRANSIT_KEY must be set together'],
    [
      { VAULT_TRANSIT_URL: 'https://127.0.0.1/v1/transit', VAULT_TRANSIT_KEY: 'assay' },
      'VAULT_TRANSIT_URL needs either VAULT_TRANSIT_TOKEN or VAULT_TRANSIT_TOKEN_FILE',
    ],
  ])('rejects the settings %j', async (settings, problem) => {
    expect(await rejectionOf('postgres://nowhere', settings as Record<string, string>)).toContain(problem)
  })
})

describe('ENCRYPTION_KEY_COMMAND', () => {
  test('encrypts the root secret with a program, which sees no settings of Assay', async () => {
    const url = await emptyDatabase()
    const report = join(temporaryFolder(), 'environment')
    const program = aKeyProgram(`require('node:fs').writeFileSync('${report}', Object.keys(process.env).join(' '))
      console.log(mode === 'wrap' ? wrap(line) : unwrap(line))`)
    const env = { ENCRYPTION_KEY: '', ENCRYPTION_KEY_COMMAND: program }
    expect(await assay(url, env).run(...bootstrap)).toMatchObject({ code: 0 })
    expect(await assay(url, env).run('keys', 'list')).toMatchObject({ code: 0 })
    expect(await query(url, 'select wrapped_by from root_keys')).toEqual([{ wrapped_by: 'ENCRYPTION_KEY_COMMAND' }])
    const names = readFileSync(report, 'utf8').split(' ')
    expect(names).toContain('PATH')
    expect(names).not.toContain('DATABASE_URL')
  })

  test.each([
    ['console.log(line); process.exit(3)', 'wrap ended with 3; run'],
    ['console.log(line); console.log(line)', 'wrap did not print one line; run'],
    ['', 'wrap did not print one line; run'],
  ])('reports a program that fails (%s), without its output', async (body, reason) => {
    const url = await emptyDatabase()
    const err = await rejectionOf(url, { ENCRYPTION_KEY: '', ENCRYPTION_KEY_COMMAND: aKeyProgram(body) }, ...bootstrap)
    expect(err).toContain(`ENCRYPTION_KEY_COMMAND ${reason}`)
    expect(err).not.toMatch(/[A-Za-z0-9+/]{40}/)
    expect(await query(url, 'select from root_keys')).toEqual([])
  })

  test('rejects a missing program, and one that unwraps another key', async () => {
    const url = await emptyDatabase()
    const env = (program: string) => ({ ENCRYPTION_KEY: '', ENCRYPTION_KEY_COMMAND: program })
    expect(await rejectionOf(url, env('/nowhere/key-program'), ...bootstrap)).toContain('wrap cannot run (ENOENT)')
    await assay(url, env(aKeyProgram())).run(...bootstrap)
    const wrong = aKeyProgram("console.log(Buffer.alloc(48, 1).toString('base64'))")
    expect(await rejectionOf(url, env(wrong))).toContain('ENCRYPTION_KEY_COMMAND unwrap did not print the key that it wrapped')
  })
})
