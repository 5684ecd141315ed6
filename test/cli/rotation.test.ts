import { describe, expect, test } from 'vitest'
import { aKeyProgram, aTransit } from '../support/key-encryption.ts'
import { someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { ENCRYPTION_KEY, newSandboxDatabase, replica, world } from '../support/world.ts'
import { assay } from './assay.ts'

const NEW_KEY = 'the-next-key-for-tests-0123456789abcdef012'

const aWorld = async () => world({ database: await newSandboxDatabase() })

describe('assay keys rotate-encryption', () => {
  const rotating = { ENCRYPTION_KEY: NEW_KEY, ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY }

  test('replaces ENCRYPTION_KEY while the service runs', async () => {
    const w = await aWorld()
    const user_id = await aUser(w.api)
    await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
    const rotated = await assay(w.url, rotating).json('keys', 'rotate-encryption')
    expect(rotated).toEqual({ versions: 1, encrypted_with: expect.stringMatching(/^ENCRYPTION_KEY [0-9a-f-]{36}$/) })

    expect(await assay(w.url).run('keys', 'list')).toMatchObject({ code: 1, err: expect.stringContaining('ENCRYPTION_KEY is not the key') })
    expect(await assay(w.url, { ENCRYPTION_KEY: NEW_KEY }).run('keys', 'list')).toMatchObject({ code: 0 })
    const next = await replica({ database: w.url, env: { ENCRYPTION_KEY: NEW_KEY } })
    const tenant = await next.tenant()
    for (const { api } of [w, tenant]) await api.putUserInfo({ params: { user_id: await aUser(api) }, body: someInfo() })
    expect(await w.api.getUserInfo({ params: { user_id } })).toMatchObject({ first_name: someInfo().first_name })
    const verified = await assay(w.url, { ENCRYPTION_KEY: NEW_KEY }).run('audit', 'verify')
    expect(verified).toMatchObject({ code: 0 })
    expect(await query(w.url, "select actor_kind from audit_log where action = 'operator rotate encryption key'")).toHaveLength(1)
  })

  test('can run again, and starts accept both keys until it has run', async () => {
    const w = await aWorld()
    expect(await assay(w.url, rotating).run('keys', 'list')).toMatchObject({ code: 0 })
    const doctor = await assay(w.url, rotating).run('doctor', '--quick')
    expect(doctor.out).toMatch(/warning {2}encryption key.*\n.*run assay keys rotate-encryption/)
    for (let n = 0; n < 2; n++) expect(await assay(w.url, rotating).run('keys', 'rotate-encryption')).toMatchObject({ code: 0 })
    expect((await assay(w.url, { ENCRYPTION_KEY: NEW_KEY }).run('doctor', '--quick')).out).toContain('matches this database')
  })

  test('moves the root secret to a key management service and back', async () => {
    const w = await aWorld()
    const { env } = await aTransit()
    const program = { ENCRYPTION_KEY_COMMAND: aKeyProgram() }
    const withoutKey = { ENCRYPTION_KEY: '' }
    expect(await assay(w.url, env).run('keys', 'rotate-encryption')).toMatchObject({ code: 0 })
    expect(await assay(w.url, { ...withoutKey, ...env }).run('keys', 'list')).toMatchObject({ code: 0 })
    const toCommand = await assay(w.url, { ...withoutKey, ...env, ...program }).run('keys', 'rotate-encryption', '--to', 'command')
    expect(toCommand).toMatchObject({ code: 0 })
    expect(await assay(w.url, { ...withoutKey, ...program }).run('keys', 'list')).toMatchObject({ code: 0 })
    expect(await assay(w.url, program).run('keys', 'rotate-encryption', '--to', 'key')).toMatchObject({ code: 0 })
    expect(await assay(w.url).run('keys', 'list')).toMatchObject({ code: 0 })
    expect(await assay(w.url).run('keys', 'rotate-encryption', '--to', 'vault')).toMatchObject({
      code: 1,
      err: expect.stringContaining('VAULT_TRANSIT_KEY is not set'),
    })
  })

  test('changes nothing with a service that cannot decrypt what it encrypts', async () => {
    const w = await aWorld()
    const program = aKeyProgram("console.log(mode === 'wrap' ? wrap('lost') : unwrap(line))")
    const failed = await assay(w.url, { ENCRYPTION_KEY_COMMAND: program }).run('keys', 'rotate-encryption')
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('did not print the key that it wrapped') })
    expect(await assay(w.url).run('keys', 'list')).toMatchObject({ code: 0 })
  })
})
