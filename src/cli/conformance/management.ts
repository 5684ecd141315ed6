import { assertThat, expectRefusal, expectStatus, type Family, fieldsOf, listOf, requireId, type Session, skip } from './session.ts'

const targetOf = ({ target }: Session) => target ?? skip('there is no management key, or --org and --team are unknown')
const orgPath = (session: Session) => `/v1/org/${targetOf(session).org_id}`
const keysPath = (session: Session) => `${orgPath(session)}/team_api_keys/${targetOf(session).env}/${targetOf(session).region}`
const webhooksPath = (session: Session) => `${orgPath(session)}/team/${targetOf(session).team_id}/${targetOf(session).env}/webhook`
const webhookPath = (session: Session) => `${webhooksPath(session)}/${requireId(session, 'webhook_id')}`

export const management: Family = {
  name: 'Management',
  checks: [
    {
      name: 'returns the organization',
      spec: 'Authentication 2',
      async run(session) {
        const reply = await session.call('management', 'GET', orgPath(session))
        expectStatus(reply, 200)
        fieldsOf(reply.body, ['id', 'name'], 'the organization')
      },
    },
    {
      name: 'lists and returns teams',
      spec: 'Other operations',
      async run(session) {
        const reply = await session.call('management', 'GET', `${orgPath(session)}/team`)
        expectStatus(reply, 200)
        assertThat(listOf(fieldsOf(reply.body, ['teams'])['teams'], 'teams').length > 0, 'there are no teams')
        const single = await session.call('management', 'GET', `${orgPath(session)}/team/${targetOf(session).team_id}`)
        expectStatus(single, 200)
        fieldsOf(single.body, ['id', 'name', 'region'], 'the team')
      },
    },
    {
      name: 'creates a team API key that works until it is deleted',
      spec: 'Authentication 4',
      async run(session) {
        const body = { label: String(session.ids['run']), team_id: targetOf(session).team_id }
        const created = await session.call('management', 'POST', keysPath(session), { body })
        expectStatus(created, 200, 201)
        const { id, value } = fieldsOf(created.body, ['id', 'value'], 'the key')
        const headers = { 'x-service-api-key': String(value) }
        expectStatus(await session.call('none', 'GET', '/v2/user?limit=1', { headers }), 200)
        expectStatus(await session.call('management', 'DELETE', `${keysPath(session)}?api_key_id=${id}`), 200)
        expectRefusal(await session.call('none', 'GET', '/v2/user?limit=1', { headers }), 401, 403)
      },
    },
    {
      name: 'creates, lists and deletes a management key, and never lists its value',
      spec: 'Authentication 3',
      async run(session) {
        const body = { label: String(session.ids['run']), role: 'team_admin', team_role_bindings: [{ team_id: targetOf(session).team_id }] }
        const created = await session.call('management', 'POST', `${orgPath(session)}/management_key`, { body })
        expectStatus(created, 200, 201)
        const { id, key } = fieldsOf(created.body, ['id', 'key'], 'the key')
        const { body: list } = await session.call('management', 'GET', `${orgPath(session)}/management_key`)
        assertThat(!JSON.stringify(list).includes(String(key)), 'the list shows the key')
        const headers = { 'x-management-key': String(key) }
        expectRefusal(await session.call('none', 'GET', orgPath(session), { headers }), 403)
        expectStatus(await session.call('management', 'DELETE', `${orgPath(session)}/management_key/${id}`), 200)
        expectRefusal(await session.call('none', 'GET', `${orgPath(session)}/team`, { headers }), 401, 403)
      },
    },
    {
      name: 'hides other organizations',
      spec: 'Authentication 3',
      run: async ({ call }) =>
        void expectRefusal(await call('management', 'GET', '/v1/org/00000000-0000-4000-8000-000000000000'), 403, 404),
    },
  ],
}

export const webhooks: Family = {
  name: 'Webhooks',
  checks: [
    {
      name: 'creates, returns and lists a webhook',
      spec: 'Other operations',
      async run(session) {
        const body = {
          url: 'https://example.com/conformance',
          description: 'conformance',
          disabled: true,
          filter_types: ['labtest.order.updated'],
        }
        const created = await session.call('management', 'POST', webhooksPath(session), { body })
        expectStatus(created, 200, 201)
        session.ids['webhook_id'] = String(fieldsOf(created.body, ['id', 'url', 'disabled', 'filter_types'], 'the webhook')['id'])
        expectStatus(await session.call('management', 'GET', webhookPath(session)), 200)
        const { body: list } = await session.call('management', 'GET', webhooksPath(session))
        assertThat(
          listOf(fieldsOf(list, ['data'])['data'], 'data').some(({ id }) => id === session.ids['webhook_id']),
          'it is not in the list',
        )
      },
    },
    {
      name: 'changes a webhook',
      spec: 'Other operations',
      async run(session) {
        const reply = await session.call('management', 'PATCH', webhookPath(session), { body: { description: 'changed' } })
        expectStatus(reply, 200)
        assertThat(fieldsOf(reply.body, ['description'])['description'] === 'changed', 'the change is missing')
      },
    },
    {
      name: 'returns a secret in the format of the public libraries, and rotates it',
      spec: 'Other operations',
      async run(session) {
        const secret = async () =>
          fieldsOf((await session.call('management', 'GET', `${webhookPath(session)}/secret`)).body, ['key'])['key']
        const before = await secret()
        assertThat(/^whsec_[A-Za-z0-9+/]+=*$/.test(String(before)), 'the secret is not whsec_ and base64')
        expectStatus(await session.call('management', 'POST', `${webhookPath(session)}/secret/rotate`, { body: {} }), 200, 204)
        assertThat((await secret()) !== before, 'the secret did not change')
      },
    },
    {
      name: 'stores custom headers',
      spec: 'Other operations',
      async run(session) {
        expectStatus(
          await session.call('management', 'PUT', `${webhookPath(session)}/headers`, { body: { headers: { 'X-From': 'here' } } }),
          200,
          204,
        )
        const { body } = await session.call('management', 'GET', `${webhookPath(session)}/headers`)
        assertThat(JSON.stringify(fieldsOf(body, ['headers'])['headers']).includes('here'), 'the headers are missing')
      },
    },
    {
      name: 'rejects a webhook with an invalid URL',
      spec: 'Other operations',
      run: async (session) =>
        void expectRefusal(await session.call('management', 'POST', webhooksPath(session), { body: { url: 'not-an-address' } }), 400, 422),
    },
    {
      name: 'deletes a webhook',
      spec: 'Other operations',
      async run(session) {
        expectStatus(await session.call('management', 'DELETE', webhookPath(session)), 200, 204)
        expectRefusal(await session.call('management', 'GET', webhookPath(session)), 404)
      },
    },
  ],
}
