import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { aCriticalOrder } from '../support/orders.ts'
import { people, personalWords, someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newSandboxDatabase, temporaryFolder, world } from '../support/world.ts'

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
