import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { query } from '../support/cluster.ts'
import { place } from '../support/orders.ts'
import { people, someInfo, someInsurance } from '../support/people.ts'
import { newDatabase, replica, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const cli = assay(w.url)
const file = (name: string) => join(temporaryFolder(), name)
const path = file('team.ndjson')

/** Two of them are those that placing an order makes on its way. */
const USERS = 5

beforeAll(async () => {
  const one = await w.api.createUser({
    body: { client_user_id: 'one', fallback_birth_date: '1961-07-23', fallback_time_zone: 'Europe/Berlin' },
  })
  const params = { user_id: one.user_id }
  await w.api.putUserInfo({ params, body: someInfo() })
  for (const member_id of ['MEMBER-55501', 'MEMBER-55501-B']) await w.api.createInsurance({ params, body: someInsurance({ member_id }) })
  const done = await place(w.api, 'walk_in_test', { user_id: one.user_id, passthrough: 'ours' })
  await w.api.simulateOrder({ params: { order_id: done.id }, body: { interpretation: 'abnormal' } })
  const { markers } = await w.api.listMarkers({ query: { lab_id: [1], size: 3 } })
  const own = await w.api.createLabTest({
    body: { name: 'Own panel', description: '', method: 'walk_in_test', marker_ids: markers.map(({ id }) => id) },
  })
  await place(w.api, 'walk_in_test', { user_id: one.user_id, order_set: { lab_test_ids: [own.id] } })
  await place(w.api, 'testkit')
  await w.api.createUser({ body: { client_user_id: 'three' } })
  await w.runJobs()
  expect(await cli.json('export', '--team', w.team_id, '--file', path)).toMatchObject({ users: USERS })
})

/** All that a team reads of its users, in the order of their own ids. */
async function everything(api: Client) {
  const { users } = await api.listUsers()
  const read = []
  for (const user of users.sort((a, b) => a.client_user_id.localeCompare(b.client_user_id))) {
    const params = { user_id: user.user_id }
    const missing = () => null
    const { orders } = await api.listOrders({ query: { user_id: user.user_id, order_direction: 'asc' } })
    const results = await Promise.all(orders.map(({ id }) => api.getResults({ params: { order_id: id } }).catch(missing)))
    read.push({
      user,
      info: await api.getUserInfo({ params }).catch(missing),
      insurance: await api.getInsurance({ params }).catch(missing),
      orders,
      results,
    })
  }
  return read
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

test('the file is private, says what it holds, and is written once', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ assay_export: 1, deployment: 'sandbox us', team: { id: w.team_id }, users: USERS })
  expect(lines.at(-1)).toEqual({ end: { users: USERS } })
  expect(lines.find(({ user }) => user?.client_user_id === 'one').user_info[0].sealed.last_name).toBe(people[0].last_name)
  expect(await cli.run('export', '--team', w.team_id, '--file', path)).toMatchObject({
    code: 1,
    err: expect.stringContaining('exists already'),
  })
})

test('into another deployment everything comes with its ids, under keys of that team', async () => {
  const other = await replica({ database: await newDatabase() })
  const team = await other.tenant()
  expect(await assay(other.url).json('import', '--team', team.team_id, '--file', path)).toMatchObject({ written: USERS, there: 0 })
  const plain = (read: unknown, of: string) =>
    JSON.parse(
      JSON.stringify(read)
        .replaceAll(of, 'TEAM')
        .replaceAll(/"account_id":"[^"]*"/g, '"account_id":null'),
    )
  expect(plain(await everything(team.api), team.team_id)).toEqual(plain(await everything(w.api), w.team_id))
  expect(await team.api.findPeople({ body: { query: people[0].last_name } })).toContainEqual(
    expect.objectContaining({ client_user_id: 'one' }),
  )
  expect(await assay(other.url).json('import', '--team', team.team_id, '--file', path)).toMatchObject({ written: 0, there: USERS })
  expect(await query(other.url, 'select count(*)::integer from events')).toEqual([{ count: 0 }])
})

test('into another team of the same deployment it is a copy with ids of its own, and no lab gets its orders', async () => {
  const copy = await w.tenant()
  const refused = await cli.run('import', '--team', copy.team_id, '--file', path)
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/^Line \d+: the user is of another team of this deployment; --new-ids/m),
  ])
  expect(await cli.json('import', '--team', copy.team_id, '--file', path, '--new-ids')).toMatchObject({ written: USERS, there: 0 })
  const shape = (read: unknown) =>
    JSON.parse(
      JSON.stringify(read)
        .replaceAll(uuid, 'ID')
        .replaceAll(/"(sample_id|specimen_number|source_sample_id)":("[^"]*"|null)/g, '"$1":0'),
    )
  const before = shape(await everything(w.api)).map(({ results: _, ...rest }: object & { results?: unknown }) => rest)
  expect(shape(await everything(copy.api)).map(({ results: _, ...rest }: object & { results?: unknown }) => rest)).toEqual(before)
  expect(
    await query(w.url, 'select count(*)::integer from orders where team_id = $1 and (sent_at is not null or dispatch_at is not null)', [
      copy.team_id,
    ]),
  ).toEqual([{ count: 0 }])
})

describe('interrupted', () => {
  const lines = () => readFileSync(path, 'utf8').trimEnd().split('\n')

  test('an import goes on where it was', async () => {
    const team = await w.tenant()
    const cut = file('cut.ndjson')
    const users = lines().flatMap((line, i) => (line.startsWith('{"user"') ? [i] : []))
    writeFileSync(
      cut,
      `${lines()
        .slice(0, (users[1] as number) + 1)
        .join('\n')}\n{"user":{"user_id`,
    )
    const first = await cli.run('import', '--team', team.team_id, '--file', cut, '--new-ids')
    expect([first.code, first.err]).toEqual([1, expect.stringMatching(/^Line \d+: is not JSON/m)])
    expect((await team.api.listUsers()).total).toBe(2)
    expect(await cli.json('import', '--team', team.team_id, '--file', path, '--new-ids')).toMatchObject({ written: USERS - 2, there: 2 })
  })

  test('an export goes on where it was, after the last whole line', async () => {
    const cut = file('cut.ndjson')
    const users = lines().flatMap((line, i) => (line.startsWith('{"user"') ? [i] : []))
    writeFileSync(
      cut,
      `${lines()
        .slice(0, (users[0] as number) + 1)
        .join('\n')}\n{"user":{"user_id`,
    )
    expect(await cli.json('export', '--team', w.team_id, '--file', cut, '--resume')).toMatchObject({ users: USERS })
    expect(readFileSync(cut, 'utf8').split('\n').slice(1)).toEqual(readFileSync(path, 'utf8').split('\n').slice(1))
    expect(await cli.run('export', '--team', w.team_id, '--file', cut, '--resume')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is complete'),
    })
  })
})

describe('refused by its line, and nothing of that user is written', () => {
  const changed = (change: (text: string) => string) => {
    const at = file('changed.ndjson')
    writeFileSync(at, change(readFileSync(path, 'utf8')))
    return at
  }
  const refused = async (at: string, ...args: string[]) => {
    const team = await w.tenant()
    const { code, out, err } = await cli.run('import', '--team', team.team_id, '--file', at, ...args)
    expect([code, out]).toEqual([1, ''])
    return { err, users: (await team.api.listUsers()).total }
  }

  test('a file that is none, was cut or cannot be read', async () => {
    expect((await refused(changed(() => '{"some":"thing"}\n'))).err).toMatch(/^The file is no export/)
    expect(
      (
        await refused(
          changed((text) => text.replace(/\{"end".*\n$/, '')),
          '--new-ids',
        )
      ).err,
    ).toContain('its last line is missing')
    expect((await refused('/nowhere')).err).toBe('The file cannot be read: ENOENT\n')
  })
  test('what the database does not take is told without its value', async () => {
    const { err } = await refused(
      changed((text) =>
        text.replaceAll('"low_level": "ordered"', '"low_level": null').replaceAll('"low_level":"ordered"', '"low_level":null'),
      ),
      '--new-ids',
    )
    expect(err).toMatch(/Line \d+: the database refused it \(23502\)/)
    for (const word of Object.values(people[0])) expect(err).not.toContain(word)
  })
  test('a lab test that is not in the catalogue', async () => {
    const nowhere = '00000000-0000-4000-8000-000000000000'
    const { err } = await refused(
      changed((text) =>
        text.replaceAll(/^\{"user".*$/gm, (line) => line.replaceAll(/"lab_test_id":"[^"]*"/g, `"lab_test_id":"${nowhere}"`)),
      ),
      '--new-ids',
    )
    expect(err).toMatch(/Line \d+: an order names a lab test that is not in the catalogue here/)
  })
  test('a client_user_id that somebody else has, and a team that is none', async () => {
    const team = await w.tenant()
    await team.api.createUser({ body: { client_user_id: 'three' } })
    expect((await cli.run('import', '--team', team.team_id, '--file', path, '--new-ids')).err).toMatch(
      /another user of the team has its client_user_id/,
    )
    expect((await cli.run('import', '--team', w.org_id, '--file', path)).err).toContain('There is no such team')
    expect((await cli.run('export', '--team', w.org_id, '--file', file('x'))).err).toContain('There is no such team')
  })
})
