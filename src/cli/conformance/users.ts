import { assertThat, expectRefusal, expectStatus, type Family, fieldsOf, listOf, requireId, type Session } from './session.ts'

const fields = ['user_id', 'team_id', 'client_user_id', 'created_on', 'connected_sources', 'fallback_time_zone', 'fallback_birth_date']
const unknownId = '00000000-0000-4000-8000-000000000000'
const clientUserId = ({ ids }: Session) => `${ids['run']}-1`
const path = (session: Session) => `/v2/user/${requireId(session, 'user_id')}`

export const patient = {
  first_name: 'Odile',
  last_name: 'Fernsby',
  gender: 'female',
  dob: '1980-05-04',
  phone_number: '+12025550143',
  email: 'odile.fernsby@example.org',
}
export const address = { first_line: '12 Saltmarsh Lane', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

export const users: Family = {
  name: 'Users',
  checks: [
    {
      name: 'creates a user, with or without a trailing slash',
      spec: 'POST /v2/user/',
      async run(session) {
        const body = { client_user_id: clientUserId(session), fallback_time_zone: 'America/Phoenix', fallback_birth_date: '1980-05-04' }
        const reply = await session.call('team', 'POST', '/v2/user/', { body })
        expectStatus(reply, 200, 201)
        const user = fieldsOf(reply.body, fields, 'the user')
        assertThat(user['client_user_id'] === body.client_user_id, 'client_user_id differs from the request')
        fieldsOf(user['fallback_time_zone'], ['id', 'source_slug', 'updated_at'], 'fallback_time_zone')
        fieldsOf(user['fallback_birth_date'], ['value', 'source_slug', 'updated_at'], 'fallback_birth_date')
        session.ids['user_id'] = String(user['user_id'])
        session.ids['team_id'] = String(user['team_id'])
      },
    },
    {
      name: 'returns 400 and the existing user for a duplicate client_user_id',
      spec: 'Errors',
      async run(session) {
        const reply = await session.call('team', 'POST', '/v2/user', { body: { client_user_id: clientUserId(session) } })
        const detail = fieldsOf(expectRefusal(reply, 400), ['error_type', 'error_message', 'user_id', 'created_on'], 'detail')
        assertThat(detail['error_type'] === 'INVALID_REQUEST', 'error_type is not INVALID_REQUEST')
        assertThat(detail['user_id'] === requireId(session, 'user_id'), 'user_id is not that of the existing user')
      },
    },
    {
      name: 'returns a user by its ID',
      spec: 'User',
      async run(session) {
        const reply = await session.call('team', 'GET', path(session))
        expectStatus(reply, 200)
        fieldsOf(reply.body, fields, 'the user')
      },
    },
    {
      name: 'resolves a user by client_user_id',
      spec: 'User',
      async run(session) {
        const reply = await session.call('team', 'GET', `/v2/user/resolve/${clientUserId(session)}`)
        expectStatus(reply, 200)
        assertThat(fieldsOf(reply.body, fields, 'the user')['user_id'] === requireId(session, 'user_id'), 'the response has another user')
      },
    },
    {
      name: 'lists users with total, offset and limit',
      spec: 'User',
      async run(session) {
        const reply = await session.call('team', 'GET', '/v2/user?limit=1')
        expectStatus(reply, 200)
        const page = fieldsOf(reply.body, ['users', 'total', 'offset', 'limit'], 'the list')
        assertThat(listOf(page['users'], 'users').length === 1, 'limit is ignored')
      },
    },
    {
      name: 'changes a user',
      spec: 'Other operations',
      async run(session) {
        expectStatus(await session.call('team', 'PATCH', path(session), { body: { fallback_time_zone: 'America/New_York' } }), 200, 204)
        const { body } = await session.call('team', 'GET', path(session))
        assertThat(
          fieldsOf((body as { fallback_time_zone: unknown }).fallback_time_zone, ['id'])['id'] === 'America/New_York',
          'the change is missing',
        )
      },
    },
    {
      name: 'rejects a body without client_user_id and an unknown time zone',
      spec: 'Errors',
      async run(session) {
        expectRefusal(await session.call('team', 'POST', '/v2/user', { body: {} }), 400, 422)
        const body = { client_user_id: `${clientUserId(session)}-x`, fallback_time_zone: 'Moon/Crater' }
        expectRefusal(await session.call('team', 'POST', '/v2/user', { body }), 400, 422)
      },
    },
    {
      name: 'records and returns demographics',
      spec: 'Other operations',
      async run(session) {
        const body = { ...patient, address: { ...address, second_line: '' } }
        expectStatus(await session.call('team', 'PATCH', `${path(session)}/info`, { body }), 200)
        const reply = await session.call('team', 'GET', `${path(session)}/info/latest`)
        expectStatus(reply, 200)
        const info = fieldsOf(reply.body, [...Object.keys(patient), 'address'], 'the demographics')
        assertThat(info['last_name'] === patient.last_name, 'last_name differs from the request')
      },
    },
    {
      name: 'hides a deleted user and restores it',
      spec: 'Limits, 7 days of grace',
      async run(session) {
        const user_id = requireId(session, 'user_id')
        expectStatus(await session.call('team', 'DELETE', path(session)), 200)
        expectRefusal(await session.call('team', 'GET', path(session)), 404)
        expectStatus(await session.call('team', 'POST', `/v2/user/undo_delete?user_id=${user_id}`), 200)
        expectStatus(await session.call('team', 'GET', path(session)), 200)
        expectRefusal(await session.call('team', 'DELETE', `/v2/user/${unknownId}`), 404)
      },
    },
    {
      name: 'returns the first response for the same idempotency key',
      spec: 'POST /v3/order, headers',
      async run(session) {
        const headers = { 'x-idempotency-key': `${clientUserId(session)}-twice` }
        const body = { client_user_id: `${clientUserId(session)}-twice` }
        const first = await session.call('team', 'POST', '/v2/user', { body, headers })
        expectStatus(first, 200, 201)
        const second = await session.call('team', 'POST', '/v2/user', { body, headers })
        const ids = [first, second].map((reply) => fieldsOf(reply.body, ['user_id'])['user_id'])
        session.ids['second_user_id'] = String(ids[0])
        assertThat(ids[0] === ids[1], 'the second response differs')
      },
    },
  ],
}

export async function deleteCreatedUsers(session: Session) {
  for (const name of ['user_id', 'second_user_id']) {
    const id = session.ids[name]
    if (id) await session.call('team', 'DELETE', `/v2/user/${id}`)
  }
}
