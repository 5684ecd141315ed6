import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { receiveMessage } from '../../src/labs/hl7/inbox/receive.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { assignUnassignedResult } from '../../src/labs/unmatched/operator-queue.ts'
import { rotateRoot } from '../../src/operations/rotation/root.ts'
import type { App } from '../../src/platform/app.ts'
import { deploymentSealingKey } from '../../src/platform/sealing/vault.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { findKnownDevice, newDeviceToken } from '../../src/tenants/people/devices.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { clientsOf, externalDatabase, start } from '../start/support/start.ts'
import { auditRows } from '../support/audit.ts'
import { fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { finishErasures } from '../support/erasure.ts'
import { file, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aKeyProgram, aTransit } from '../support/key-encryption.ts'
import { people, someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { ENCRYPTION_KEY, emptyDatabase, newSandboxDatabase, replica, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const NEW_KEY = 'the-next-key-for-tests-0123456789abcdef012'

/** A message of a lab, and a result without a team that has a PDF. */
async function someLabRows(app: App) {
  const profile = readBuiltIn('orm-2.3-grouped')
  const link = { slug: 'quillmoor', profile, send: { host: '127.0.0.1', port: 1, timeoutMs: 1, connections: 1 }, receive: undefined }
  const message = Buffer.from(`MSH|^~\\&|LAB|LAB|ASSAY|ACC|20260302||ORU^R01|ROTATED|T|2.3\r${pidOf(people[0])}\r`)
  const { answers } = await receiveMessage(app, link, message)
  const pdf = `OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${Buffer.from('%PDF-1.4').toString('base64')}||||||F`
  const { unmatched } = await file(app, { account: 'NOBODY' }, [obr('7K2M', potassium.order), obx(potassium, '4.4'), pdf])
  return { link, message, answers, result_id: unmatched[0]?.id as string }
}

/** The keys that encrypt what labs sent and no team has. */
const keysOfLabRows = async (url: string) =>
  (
    await query<{ key: string }>(
      url,
      `select distinct encode(substring(sealed from 2 for 16), 'hex')::uuid::text as key from (
         select sealed from lab_inbox union all select answer_sealed from lab_inbox
         union all select sealed from unassigned_results union all select documents_sealed from unassigned_results
         union all select summary_sealed from unassigned_results
       ) rows order by 1`,
    )
  ).map(({ key }) => key)

const aWorld = async () => world({ database: await newSandboxDatabase(), env: fastPasswords })

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
    expect(await query(w.url, `select actor_kind from ${auditRows} where action = 'operator rotate encryption key'`)).toHaveLength(1)
  })

  test('a backup from before stays restorable with the retired key', async () => {
    const [w, file, url] = [await aWorld(), join(temporaryFolder(), 'before.backup'), await emptyDatabase()]
    await assay(w.url).run('backup', '--file', file)
    await assay(w.url, rotating).run('keys', 'rotate-encryption')
    const rejected = await assay(url, { ENCRYPTION_KEY: NEW_KEY }).run('restore', '--file', file)
    expect(rejected).toMatchObject({ code: 1, err: expect.stringContaining('ENCRYPTION_KEY is not the key that encrypted this backup') })
    expect(await assay(url, rotating).run('restore', '--file', file)).toMatchObject({ code: 0 })
    expect(await assay(url, rotating).run('keys', 'rotate-encryption')).toMatchObject({ code: 0 })
    expect(await assay(url, { ENCRYPTION_KEY: NEW_KEY }).run('audit', 'verify')).toMatchObject({ code: 0 })
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

describe('assay keys rotate-root', () => {
  /** The versions of the root that encrypt keys of teams, by number. */
  const rootsInUse = (url: string) =>
    query<{ version: number }>(
      url,
      `select distinct r.version from sealing_keys k join root_keys r on substring(k.wrapped from 2 for 16) = decode(replace(r.id::text, '-', ''), 'hex')
       where k.user_id is null order by 1`,
    ).then((rows) => rows.map(({ version }) => version))

  test('encrypts keys, people and invitations with a new version, and everything stays readable', async () => {
    const w = await aWorld()
    const user_id = await aUser(w.api)
    await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
    const person = await joinOrganization(w, w)
    const invited = await w.admin.createInvite({ params: { org_id: w.org_id }, body: { email: 'new@harbor.example' } })
    await w.runJobs()
    const [account] = await query<{ id: string; password: string }>(w.url, 'select id, password from people')
    const device = newDeviceToken(w.app, account as { id: string; password: string })
    const hashes = 'select email_hash, sealed from people'
    const before = await query(w.url, hashes)

    const labs = await someLabRows(w.app)

    const erased = await aUser(w.api)
    await w.api.deleteUser({ params: { user_id: erased } })
    await w.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    await finishErasures(w)
    const certificate = join(temporaryFolder(), 'certificate.json')
    writeFileSync(certificate, JSON.stringify(await w.api.getErasure({ params: { user_id: erased } })))

    const rotated = await assay(w.url).json('keys', 'rotate-root')
    expect(rotated).toMatchObject({ version: 2, people: 2, lab_rows: 5 })
    expect(await assay(w.url).run('erasure', 'verify', '--file', certificate)).toMatchObject({ code: 0 })
    expect(await rootsInUse(w.url)).toEqual([2])
    expect(await query(w.url, hashes)).not.toEqual(before)
    expect(await query(w.url, 'select version, retired_at is null as live from root_keys order by version')).toEqual([
      { version: 1, live: false },
      { version: 2, live: true },
    ])

    const next = await replica({ database: w.url, env: fastPasswords })
    expect(await keysOfLabRows(w.url)).toEqual(
      ['messages of labs', 'results without a team'].map((purpose) => deploymentSealingKey(next.app, purpose).id).sort(),
    )
    const { answers } = await receiveMessage(next.app, labs.link, labs.message)
    expect(answers).toEqual(labs.answers)
    expect(await assignUnassignedResult(next.app, labs.result_id, w.team_id)).toMatchObject({ team_id: w.team_id })
    expect(await createClient(next.base, { 'x-service-api-key': w.team_api_key }).getUserInfo({ params: { user_id } })).toMatchObject({
      first_name: someInfo().first_name,
    })
    expect(await findKnownDevice(next.app, device, person.email)).toBe(device.split('.')[0])
    next.advanceTime(MINUTE)
    const { email, totp_secret, recovery_codes } = person
    const code = codeAt(fromBase32(totp_secret), stepAt(next.app.wall()))
    for (const each of [code, recovery_codes[0]]) await signIn(next.base, { email, password: PASSWORD, code: each })
    const admin = createClient(next.base, { 'x-management-key': w.management_key })
    const params = { org_id: w.org_id }
    expect((await admin.listInvites({ params })).invites).toMatchObject([{ email: 'new@harbor.example' }])
    expect(await admin.createInvite({ params, body: { email: 'new@harbor.example' } })).toMatchObject({
      status: 'invite_resent',
      id: invited.id,
    })
    await next.runJobs()
    expect(await assay(w.url).run('audit', 'verify')).toMatchObject({ code: 0 })
  })

  test('continues after an interruption at any step', async () => {
    const w = await aWorld()
    const user_id = await aUser(w.api)
    await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
    const interruptAt = (step: number) => {
      let n = 0
      return rotateRoot(w.app, () => {
        if (++n === step) throw new Error('killed')
      })
    }
    for (const step of [1, 2]) await expect(interruptAt(step)).rejects.toThrow('killed')
    expect(await rootsInUse(w.url)).toEqual([1])
    const other = await w.tenant()
    expect(await rootsInUse(w.url)).toEqual([1, 2])
    expect(await assay(w.url).json('keys', 'rotate-root')).toMatchObject({ version: 2 })
    expect(await rootsInUse(w.url)).toEqual([2])
    expect(await assay(w.url).json('keys', 'rotate-root')).toMatchObject({ version: 3 })
    for (const { api } of [w, other]) await api.putUserInfo({ params: { user_id: await aUser(api) }, body: someInfo() })
    expect(await w.api.getUserInfo({ params: { user_id } })).toMatchObject({ first_name: someInfo().first_name })
  })

  test('keeps one of two accounts and invitations with one email, which processes with different versions created', async () => {
    const w = await aWorld()
    const other = await replica({ database: w.url, env: fastPasswords })
    const behind = { ...w, ...other, admin: createClient(other.base, { 'x-management-key': w.management_key }) }
    const activated = rotateRoot(w.app, (step) => {
      if (step.startsWith('encrypting')) throw new Error('killed')
    })
    await expect(activated).rejects.toThrow('killed')
    const params = { org_id: w.org_id }
    const [twice, invitee] = ['twice@harbor.example', 'new@harbor.example']
    const first = await joinOrganization(w, w, { email: twice })
    await joinOrganization(behind, behind, { email: twice })
    for (const { admin } of [w, behind]) await admin.createInvite({ params, body: { email: invitee } })
    const emails = async () => [
      ...(await w.admin.listMembers({ params })).members.map(({ email }) => email),
      ...(await w.admin.listInvites({ params })).invites.map(({ email }) => email),
    ]
    expect(await emails()).toEqual([twice, twice, invitee, invitee])

    expect(await assay(w.url).json('keys', 'rotate-root')).toMatchObject({ version: 2, people: 2 })
    expect(await emails()).toEqual([twice, invitee])
    expect(await first.api.getSession()).toMatchObject({ person: { email: twice } })
    expect(await query(w.url, `select 1 as found from ${auditRows} where action = 'operator delete duplicate member'`)).toHaveLength(1)
  })

  test('works together with another ENCRYPTION_KEY and with backups of each version', async () => {
    const [w, folder] = [await aWorld(), temporaryFolder()]
    const file = (name: string) => join(folder, `${name}.backup`)
    await assay(w.url).run('backup', '--file', file('first'))
    await assay(w.url).run('keys', 'rotate-root')
    await assay(w.url).run('backup', '--file', file('second'))
    const rotating = { ENCRYPTION_KEY: NEW_KEY, ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY }
    expect(await assay(w.url, rotating).json('keys', 'rotate-encryption')).toMatchObject({ versions: 2 })
    for (const [name, key_version] of [
      ['first', 1],
      ['second', 2],
    ] as const) {
      expect(await assay('', rotating).json('backup', 'check', '--file', file(name))).toMatchObject({ key_version })
      expect(await assay(await emptyDatabase(), rotating).run('restore', '--file', file(name))).toMatchObject({ code: 0 })
    }
  })

  test('waits for running processes, which keep serving', async () => {
    const env = externalDatabase(await newSandboxDatabase())
    const service = await start(env)
    const { api } = clientsOf(service, env['DATA_DIR'] as string)
    const user_id = await aUser(api)
    let isDone = false
    const rotation = assay(env['DATABASE_URL'] as string)
      .json('keys', 'rotate-root')
      .finally(() => {
        isDone = true
      })
    while (!isDone) {
      await api.putUserInfo({ params: { user_id }, body: someInfo() })
      await aUser(api)
    }
    expect(await rotation).toMatchObject({ version: 2 })
    expect(await rootsInUse(env['DATABASE_URL'] as string)).toEqual([2])
    await api.putUserInfo({ params: { user_id }, body: someInfo() })
    expect(await assay(env['DATABASE_URL'] as string).run('audit', 'verify')).toMatchObject({ code: 0 })
  })
})
