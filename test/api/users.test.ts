import { beforeAll, describe, expect, test } from 'vitest'
import { type Reply, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const userBody = (change: object = {}) => ({ client_user_id: `user-${newUuid()}`, ...change })
const newTenant = (): Promise<Tenant> => w.tenant()

test('returns every field of a created user', async () => {
  const body = userBody({
    fallback_time_zone: 'Europe/Berlin',
    fallback_birth_date: '1961-07-23',
    ingestion_start: '2026-01-01',
    ingestion_end: '2026-12-31T12:00:00+02:00',
  })
  const user = await w.api.createUser({ body })
  expect(user).toEqual({
    user_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    team_id: w.team_id,
    client_user_id: body.client_user_id,
    created_on: expect.stringMatching(/Z$/),
    connected_sources: [],
    fallback_time_zone: { id: 'Europe/Berlin', source_slug: 'manual', updated_at: user.created_on },
    fallback_birth_date: { value: '1961-07-23', source_slug: 'manual', updated_at: user.created_on },
    ingestion_start: '2026-01-01T00:00:00.000Z',
    ingestion_end: '2026-12-31T10:00:00.000Z',
  })
  expect(await w.api.getUser({ params: { user_id: user.user_id } })).toEqual(user)
  expect(await w.api.resolveUser({ params: { client_user_id: body.client_user_id } })).toEqual(user)
})

test('one hundred equal creations create one user and return its ID in every conflict', async () => {
  const body = userBody()
  const responses = await Promise.all(
    Array.from({ length: 100 }, () =>
      sendRequest(w.base, endpoints.createUser, { body, headers: { 'x-service-api-key': w.team_api_key } }),
    ),
  )
  const created = responses.filter((response) => response.status === 200)
  expect(created).toHaveLength(1)
  const { user_id, created_on } = (created[0] as Reply).body as { user_id: string; created_on: string }
  const others = responses.filter((response) => response !== created[0])
  expect(others.map((response) => response.status)).toEqual(Array(99).fill(400))
  for (const { body } of others)
    expect(body).toEqual({
      detail: { error_type: 'INVALID_REQUEST', error_message: 'Client user id already exists.', user_id, created_on },
    })
})

test('another team can use the same client_user_id', async () => {
  const body = userBody()
  const other = await newTenant()
  const [mine, theirs] = await Promise.all([w.api.createUser({ body }), other.api.createUser({ body })])
  expect(mine.user_id).not.toBe(theirs.user_id)
})

describe('client_user_id', () => {
  test.each([
    'zoe@clinic.example',
    '+1 415 555 0100',
    '+14155550100',
    '(415) 555-0100',
    '415-555-0100',
    '415.555.0100',
    '01 23 45 67 89',
    '555-0100',
  ])('rejects %s as personal data with a reason', async (client_user_id) => {
    const response = await errorOf(w.api.createUser({ body: { client_user_id } }))
    expect(response.status).toBe(400)
    expect(response.detail).toMatch(/looks like (an email|a phone number).*UUID/)
    expect(JSON.stringify(response.detail)).not.toContain(client_user_id)
  })
  test('returns an error_type besides the text for a personal ID', async () => {
    const headers = { 'x-service-api-key': w.team_api_key }
    const response = await sendRequest(w.base, endpoints.createUser, { body: { client_user_id: 'john＠example.com' }, headers })
    expect(response).toMatchObject({ status: 400, body: { detail: expect.any(String), error_type: 'PERSONAL_CLIENT_USER_ID' } })
  })
  test.each(['4155550100', '2024-01-15', 'patient_17', newUuid(), 'ord-2024-000123', '{{"x"}}', '名前', "'; drop table users; --"])(
    'accepts %s',
    async (client_user_id) => {
      expect((await w.api.createUser({ body: { client_user_id } })).client_user_id).toBe(client_user_id)
      expect((await w.api.resolveUser({ params: { client_user_id } })).client_user_id).toBe(client_user_id)
    },
  )
})

test.each([
  [{}, 'client_user_id', 'missing'],
  [{ client_user_id: 5 }, 'client_user_id', 'type_error'],
  [{ client_user_id: '' }, 'client_user_id', 'too_small'],
  [{ client_user_id: 'x'.repeat(256) }, 'client_user_id', 'too_big'],
  [userBody({ fallback_time_zone: 'Mars/Olympus' }), 'fallback_time_zone', 'value_error'],
  [userBody({ fallback_time_zone: '+02:00' }), 'fallback_time_zone', 'value_error'],
  [userBody({ fallback_time_zone: 'europe/berlin' }), 'fallback_time_zone', 'value_error'],
  [userBody({ fallback_birth_date: '2001-02-30' }), 'fallback_birth_date', 'format_error'],
  [userBody({ fallback_birth_date: '2999-01-01' }), 'fallback_birth_date', 'value_error'],
  [userBody({ ingestion_start: 'soon' }), 'ingestion_start', 'format_error'],
  [userBody({ ingestion_start: '2026-02-01', ingestion_end: '2026-01-01' }), 'ingestion_end', 'value_error'],
])('rejects %j and names %s', async (body, field, type) => {
  const response = await errorOf(w.api.createUser({ body: body as { client_user_id: string } }))
  expect(response.status).toBe(422)
  expect(response.detail).toMatchObject([{ loc: ['body', field], type, msg: expect.stringMatching(/\w/) }])
})

test.each(['UTC', 'America/New_York', 'US/Eastern', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])(
  'accepts the time zone %s',
  async (zone) => {
    expect((await w.api.createUser({ body: userBody({ fallback_time_zone: zone }) })).fallback_time_zone?.id).toBe(zone)
  },
)

test('lists users newest first, in pages', async () => {
  const { api } = await newTenant()
  const created = []
  for (let i = 0; i < 5; i++) created.unshift((await api.createUser({ body: userBody() })).user_id)
  const first = await api.listUsers({ query: { limit: 2 } })
  const second = await api.listUsers({ query: { limit: 2, offset: 2 } })
  expect({ ...first, users: first.users.map((user) => user.user_id) }).toEqual({
    users: created.slice(0, 2),
    total: 5,
    limit: 2,
    offset: 0,
  })
  expect(second.users.map((user) => user.user_id)).toEqual(created.slice(2, 4))
  for (const query of [{ limit: 0 }, { limit: 501 }, { offset: -1 }, { limit: 'many' as unknown as number }])
    expect((await errorOf(api.listUsers({ query }))).status).toBe(422)
})

describe('updating a user', () => {
  test('changes the given fields, clears null ones and returns 204', async () => {
    const user = await w.api.createUser({
      body: userBody({ fallback_time_zone: 'Europe/Berlin', fallback_birth_date: '1961-07-23', ingestion_start: '2026-01-01' }),
    })
    const client_user_id = `renamed-${user.user_id}`
    const reply = await sendRequest(w.base, endpoints.patchUser, {
      params: { user_id: user.user_id },
      body: { client_user_id, fallback_birth_date: null, ingestion_end: '2026-06-30' },
      headers: { 'x-service-api-key': w.team_api_key },
    })
    expect([reply.status, reply.body]).toEqual([204, undefined])
    expect(await w.api.getUser({ params: user })).toEqual({
      ...user,
      client_user_id,
      fallback_birth_date: null,
      ingestion_end: '2026-06-30T23:59:59.999Z',
    })
  })
  test('rejects an empty body, a null or taken ID and reversed bounds', async () => {
    const [user, other] = await Promise.all([
      w.api.createUser({ body: userBody({ ingestion_start: '2026-05-01' }) }),
      w.api.createUser({ body: userBody() }),
    ])
    const patch = (body: object) => errorOf(w.api.patchUser({ params: user, body }))
    expect(await patch({})).toMatchObject({ status: 400, detail: { error_type: 'NOTHING_TO_PATCH' } })
    expect(await patch({ client_user_id: null })).toMatchObject({ status: 422, detail: [{ loc: ['body', 'client_user_id'] }] })
    expect(await patch({ client_user_id: other.client_user_id })).toMatchObject({
      status: 409,
      detail: { error_type: 'CLIENT_USER_ID_TAKEN' },
    })
    expect(await patch({ client_user_id: 'a@b.example' })).toMatchObject({ status: 400, detail: expect.stringContaining('email') })
    expect(await patch({ ingestion_end: '2026-04-01' })).toMatchObject({ status: 422 })
    expect(await patch({ ingestion_start: null, ingestion_end: '2026-04-01' })).toMatchObject({ status: 200 })
  })
})

test('finds users by a prefix of either ID', async () => {
  const { api } = await newTenant()
  const user = await api.createUser({ body: { client_user_id: 'ward%7-bed_3' } })
  await api.createUser({ body: { client_user_id: 'wardX7-bedY3' } })
  const idsFor = async (query_id: string) => (await api.searchUsers({ query: { query_id } })).map((user) => user.user_id)
  expect(await idsFor('ward%7')).toEqual([user.user_id])
  expect(await idsFor(user.user_id.slice(0, 9).toUpperCase())).toEqual([user.user_id])
  expect(await idsFor('ward')).toHaveLength(2)
  expect(await idsFor('nobody')).toEqual([])
  expect((await errorOf(api.searchUsers({ query: { query_id: 'w' } }))).status).toBe(422)
})

test('counts the active users of the team in the metrics', async () => {
  const { api, team_id } = await newTenant()
  const user = await api.createUser({ body: userBody() })
  await api.createUser({ body: userBody() })
  await api.deleteUser({ params: user })
  expect(await api.getMetrics()).toMatchObject({ team_id, number_of_users: 1, number_of_connected_sources: 0, number_of_ordered_tests: 0 })
})
