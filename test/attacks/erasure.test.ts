import { generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { keyIdOf, openBytes, type SealingKey } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey, unwrap, wrap } from '../../src/platform/sealing/vault.ts'
import { DAY, HOUR, MINUTE } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { finishErasures } from '../support/erasure.ts'
import { aTransit } from '../support/key-encryption.ts'
import { someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { ENCRYPTION_KEY, emptyDatabase, errorOf, newSandboxDatabase, replica, temporaryFolder, world } from '../support/world.ts'

const file = (content: unknown) => {
  const path = join(temporaryFolder(), 'certificate.json')
  writeFileSync(path, JSON.stringify(content))
  return path
}

describe('erasure certificates', () => {
  test('one that was changed, forged or signed with another key is not valid', async () => {
    const w = await world({ database: await newSandboxDatabase() })
    const [cli, user_id] = [assay(w.url), await aUser(w.api)]
    await w.api.deleteUser({ params: { user_id } })
    await w.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    await finishErasures(w)
    const { certificate, jws } = await w.api.getErasure({ params: { user_id } })
    const [head = '', payload = '', signature = ''] = jws.split('.')
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const other = encode({ ...certificate, erased_at: '2020-01-01T00:00:00.000Z' })
    const stranger = generateKeyPairSync('ed25519').privateKey
    const resigned = sign(null, Buffer.from(`${head}.${other}`), stranger).toString('base64url')
    const none = encode({ alg: 'none', typ: 'assay-erasure+jws', kid: 'none' })
    const verdictOn = async (content: unknown) => (await cli.run('erasure', 'verify', '--file', file(content))).out
    expect(await verdictOn({ certificate: { ...certificate, user_id: w.team_id }, jws })).toContain('NOT VALID: the readable part differs')
    expect(await verdictOn(`${head}.${other}.${signature}`)).toContain('NOT VALID: the signature does not match')
    expect(await verdictOn(`${head}.${other}.${resigned}`)).toContain('NOT VALID: the signature does not match')
    expect(await verdictOn(`${none}.${payload}.`)).toContain('NOT VALID: the file is not an erasure certificate')

    // With access to the database alone, nobody makes the service sign a record.
    await query(w.url, 'update erasures set record = replace(record, \'"anonymized_orders":0\', \'"anonymized_orders":9\')')
    expect(await errorOf(w.api.getErasure({ params: { user_id } }))).toMatchObject({ status: 500 })
    await query(w.url, 'insert into users (team_id, user_id, client_user_id, created_on) values ($1, $2, $3, now())', [
      w.team_id,
      user_id,
      'back',
    ])
    expect(await verdictOn({ certificate, jws })).toContain('NOT VALID: the database has the user again')
  })
})

describe('epoch keys', () => {
  test('a copy of the wrapped key of an erased user is useless once its epoch is destroyed', async () => {
    const transit = await aTransit()
    const settings = { ...transit.env, ERASURE_EPOCH_DAYS: '30', ERASURE_ESCROW_DAYS: '35' }
    const w = await world({ database: await newSandboxDatabase(), env: settings })
    const [erased, kept] = [await aUser(w.api), await aUser(w.api)]
    for (const user_id of [erased, kept]) await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
    const later = async (...waits: number[]) => {
      for (const ms of waits) {
        w.advanceTime(ms)
        await w.runJobs()
      }
    }
    await later(0, MINUTE, HOUR)
    const keyOf = async (user_id: string) =>
      (await query<{ id: string; wrapped: Buffer }>(w.url, 'select id, wrapped from sealing_keys where user_id = $1', [user_id]))[0] as {
        id: string
        wrapped: Buffer
      }
    const copy = await keyOf(erased)
    const epochs = () =>
      query<{ id: string; state: string }>(
        w.url,
        "select id, case when destroyed_at is null then 'live' else 'gone' end as state from team_epochs where team_id = $1 order by created_at",
        [w.team_id],
      )
    expect((await epochs())[0]?.id).toBe(keyIdOf(copy.wrapped))
    const owner = { team_id: w.team_id, user_id: erased }
    expect(unwrap(await teamSealingKey(w.app, w.team_id), owner, copy).id).toBe(copy.id)
    const backup = join(temporaryFolder(), 'before.backup')
    const cli = assay(w.url, settings)
    await cli.json('backup', '--file', backup)
    const asOperator = { ...settings, ENCRYPTION_KEY }

    await w.api.deleteUser({ params: { user_id: erased } })
    await later(7 * DAY)
    await finishErasures(w)
    const certificate = () => w.api.getErasure({ params: { user_id: erased } }).then(({ certificate }) => certificate)
    expect((await certificate()).epoch).toMatchObject({ state: 'active', destroyed_at: null, expected_destruction_at: expect.any(String) })

    // The schedule replaces the epoch. A restore within the escrow finds everything readable.
    await later(24 * DAY, MINUTE, HOUR)
    expect((await certificate()).epoch).toMatchObject({ state: 'in_escrow' })
    const restored = await emptyDatabase()
    expect(await assay(restored, asOperator).run('restore', '--file', backup)).toMatchObject({ code: 0 })
    const early = await replica({ database: restored, env: settings })
    expect(unwrap(await teamSealingKey(early.app, w.team_id), owner, copy).id).toBe(copy.id)
    // The survivor is readable in the restored copy, through its API and with its key.
    const inCopy = createClient(early.base, { 'x-service-api-key': w.team_api_key })
    expect(await inCopy.getUserInfo({ params: { user_id: kept } })).toMatchObject(someInfo())
    expect(await inCopy.getUserInfo({ params: { user_id: erased } })).toMatchObject(someInfo())
    expect(await w.api.getUserInfo({ params: { user_id: kept } })).toMatchObject(someInfo())

    // A request that took over an hour stored a key that the retired epoch wraps.
    const slow = await aUser(w.api)
    await w.api.putUserInfo({ params: { user_id: slow }, body: someInfo() })
    const { id, wrapped } = await keyOf(slow)
    const opened = unwrap(await teamSealingKey(w.app, w.team_id), { team_id: w.team_id, user_id: slow }, { id, wrapped })
    const retired = (await teamSealingKey(w.app, w.team_id)).epochs?.[0] as SealingKey
    expect(retired.id).toBe(keyIdOf(copy.wrapped))
    await query(w.url, 'update sealing_keys set wrapped = $2 where user_id = $1', [
      slow,
      wrap(retired, { team_id: w.team_id, user_id: slow }, opened),
    ])
    const other = await replica({ database: w.url, env: settings })
    const reader = createClient(other.base, { 'x-service-api-key': w.team_api_key })
    expect(await reader.getUserInfo({ params: { user_id: slow } })).toMatchObject(someInfo())

    // The next epoch takes it over, and only then the retired one is destroyed.
    await later(35 * DAY)
    expect((await epochs()).map(({ state }) => state)).toEqual(['live', 'live', 'live'])
    expect((await cli.run('doctor')).out).toContain('epoch keys')
    await later(MINUTE, HOUR, MINUTE)
    expect((await epochs()).map(({ state }) => state)).toEqual(['gone', 'live', 'live'])
    expect((await certificate()).epoch).toMatchObject({ state: 'destroyed', destroyed_at: expect.any(String) })
    expect([...transit.keys.keys()]).not.toContain(`assay-epoch-${keyIdOf(copy.wrapped)}`)
    expect(() => openBytes(w.app.vault.root, '', copy.wrapped)).toThrow()
    const late = await replica({ database: w.url, env: settings })
    const team = await teamSealingKey(late.app, w.team_id)
    expect(() => unwrap(team, owner, copy)).toThrow('Encrypted with another key')
    const tooLate = await assay(await emptyDatabase(), asOperator).run('restore', '--file', backup)
    expect(tooLate).toMatchObject({ code: 1, err: expect.stringContaining('destroyed in Vault') })
    expect(await w.api.getUserInfo({ params: { user_id: kept } })).toMatchObject(someInfo())
    expect(await cli.json('erasure', 'verify', '--file', file(await w.api.getErasure({ params: { user_id: erased } })))).toMatchObject({
      valid: true,
    })

    // A process that does not have the epoch in memory reads no user without the key store.
    for (const name of transit.keys.keys()) if (name.startsWith('assay-epoch-')) transit.keys.delete(name)
    const cut = await replica({ database: w.url, env: settings })
    const client = createClient(cut.base, { 'x-service-api-key': w.team_api_key })
    expect(await errorOf(client.getUserInfo({ params: { user_id: kept } }))).toMatchObject({
      status: 503,
      detail: { error_type: 'KEY_STORE_UNAVAILABLE' },
    })
    expect(await w.api.getUserInfo({ params: { user_id: kept } })).toMatchObject(someInfo())
  })
})
