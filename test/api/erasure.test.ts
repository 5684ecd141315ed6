import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { finishErasures } from '../support/erasure.ts'
import { moveAllEvents } from '../support/events.ts'
import { aCriticalOrder } from '../support/orders.ts'
import { people, personalWords, someInfo } from '../support/people.ts'
import { query, runUncommitted } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { tablesWith } from '../support/tables.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newSandboxDatabase, replica, temporaryFolder, world } from '../support/world.ts'

const w = await world({ database: await newSandboxDatabase() })
const { api, team_id } = await w.tenant()
const cli = assay(w.url)

const file = (name: string, content: unknown) => {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const publicKeys = async () => (await fetch(`${w.base}/.well-known/jwks.json`)).json()
const erase = async (user_id: string) => {
  await api.deleteUser({ params: { user_id } })
  await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  await finishErasures(w)
}

test('an erased user has a signed certificate of what was destroyed, when, and which copies survive', async () => {
  const { user_id } = await aCriticalOrder(api)
  await api.putUserInfo({ params: { user_id }, body: someInfo() })
  const [key] = await query<{ id: string }>(w.url, 'select id from sealing_keys where user_id = $1', [user_id])
  await erase(user_id)

  const erasure = await api.getErasure({ params: { user_id } })
  expect(erasure.certificate).toMatchObject({
    ...{ version: 1, environment: 'sandbox', region: 'us', team_id, user_id, key_ids: [key?.id], anonymized_orders: 1, epoch: null },
    deleted_rows: { users: 1, sealing_keys: 1, user_info: 1, results: 2 },
  })
  expect(erasure.certificate.copies.map(({ place, until }) => [place, until])).toEqual([
    ['PostgreSQL heap pages', null],
    ['PostgreSQL write-ahead log', null],
    ['replicas of the database', null],
    ['backups', null],
  ])
  const text = JSON.stringify(erasure)
  for (const word of [...personalWords, ...Object.values(people[0])]) expect(text).not.toContain(word)

  const certificate = file('certificate.json', erasure)
  expect(await cli.json('erasure', 'verify', '--file', certificate)).toMatchObject({ valid: true, problems: [], certificate: { user_id } })
  const keys = file('jwks.json', await publicKeys())
  const offline = assay('postgres://127.0.0.1:1/none', { ENCRYPTION_KEY: '' })
  expect(await offline.run('erasure', 'verify', '--file', certificate, '--keys', keys)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`valid: user ${user_id}`),
  })
  expect(await offline.run('erasure', 'verify', '--file', file('c.jws', erasure.jws), '--keys', keys)).toMatchObject({ code: 0 })
  expect(JSON.parse((await cli.run('erasure', 'keys')).out)).toEqual(await publicKeys())
})

test('a user that is not erased has none', async () => {
  const user_id = await aUser(api)
  expect(await errorOf(api.getErasure({ params: { user_id } }))).toMatchObject({
    status: 409,
    detail: { error_type: 'USER_NOT_ERASED', erase_at: null, error_message: expect.stringContaining('DELETE /v2/user/{user_id}') },
  })
  await api.deleteUser({ params: { user_id } })
  const scheduled = await errorOf(api.getErasure({ params: { user_id } }))
  expect(scheduled).toMatchObject({ status: 409, detail: { error_type: 'USER_NOT_ERASED', erase_at: expect.any(String) } })
  expect(await errorOf(api.getErasure({ params: { user_id: newUuid() } }))).toMatchObject({
    status: 404,
    detail: { error_type: 'USER_NOT_FOUND' },
  })
})

test('the certificate waits for the second pass over the log, and for transactions that were open before the first', async () => {
  const instance = await replica({ database: w.url })
  const tenant = await instance.tenant()
  const user_id = await aUser(tenant.api)
  const kept = await aUser(tenant.api)
  // Written by a transaction that began before the erasure and commits after the first pass.
  const commit = await runUncommitted(
    w.url,
    `insert into outbox (team_id, id, user_id, event_type, key, partial, sealed, created_at)
     select $1::uuid, gen_random_uuid(), $2::uuid, 'user.created', 'user:' || $2, false, '\\x00', now()`,
    [tenant.team_id, user_id],
  )
  await tenant.api.deleteUser({ params: { user_id } })
  await tenant.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  const refusal = () => errorOf(tenant.api.getErasure({ params: { user_id } }))
  expect(await refusal()).toMatchObject({ status: 409, detail: { error_type: 'USER_NOT_ERASED' } })
  await instance.runJobs()
  const { detail } = await refusal()
  expect(Date.parse(detail['erase_at'] as string) - Date.parse(instance.app.wall())).toBeLessThanOrEqual(3 * MINUTE)
  expect(detail['error_message']).toContain(detail['erase_at'])

  instance.advanceTime(3 * MINUTE)
  await instance.runJobs()
  expect((await refusal()).status).toBe(409)
  await commit()
  expect(await tablesWith(w.url, user_id)).toContain('outbox')
  await finishErasures(instance)
  expect((await tenant.api.getErasure({ params: { user_id } })).certificate.user_id).toBe(user_id)
  // The request for the certificate has an audit row too.
  await instance.runJobs()
  expect(await tablesWith(w.url, user_id)).toEqual(['audit_log', 'erasures'])
  const { events } = await tenant.api.listEvents()
  expect(events.map((event) => [event.event_type, event.user_id])).toEqual([
    ['user.created', kept],
    ['user.deleted', null],
  ])
})

test('the log is read without the events of a user whose keys are gone, also before the first pass', async () => {
  const tenant = await w.tenant()
  const [erased, kept] = [await aUser(tenant.api), await aUser(tenant.api)]
  await moveAllEvents(w.app)
  await tenant.api.deleteUser({ params: { user_id: erased } })
  await tenant.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  await moveAllEvents(w.app)
  expect((await tenant.api.listEvents()).events.map(({ event_type, user_id }) => [event_type, user_id])).toEqual([
    ['user.created', kept],
    ['user.deleted', null],
  ])
})

test('resetting a sandbox team erases its users from the log', async () => {
  const tenant = await w.tenant()
  const user_id = await aUser(tenant.api)
  await moveAllEvents(w.app)
  await tenant.api.resetTeam({ body: { team_id: tenant.team_id } })
  await finishErasures(w)
  expect(await tablesWith(w.url, user_id)).toEqual(['audit_log'])
  expect((await tenant.api.listEvents()).events).toEqual([])
})
