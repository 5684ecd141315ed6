import { answered, type Family, fieldsOf, listOf, must, needed, refusedWith, type Session, skip } from './session.ts'

const place = ({ place }: Session) => place ?? skip('there is no management key, or --org and --team are unknown')
const org = (session: Session) => `/v1/org/${place(session).org_id}`
const keys = (session: Session) => `${org(session)}/team_api_keys/${place(session).env}/${place(session).region}`
const hooks = (session: Session) => `${org(session)}/team/${place(session).team_id}/${place(session).env}/webhook`
const hook = (session: Session) => `${hooks(session)}/${needed(session, 'webhook_id')}`

export const management: Family = {
  name: 'Management',
  checks: [
    {
      name: 'returns the organization',
      spec: 'Authentication 2',
      async run(session) {
        const answer = await session.call('management', 'GET', org(session))
        answered(answer, 200)
        fieldsOf(answer.body, ['id', 'name'], 'the organisation')
      },
    },
    {
      name: 'lists and returns teams',
      spec: 'Other operations',
      async run(session) {
        const answer = await session.call('management', 'GET', `${org(session)}/team`)
        answered(answer, 200)
        must(listOf(fieldsOf(answer.body, ['teams'])['teams'], 'teams').length > 0, 'there are no teams')
        const one = await session.call('management', 'GET', `${org(session)}/team/${place(session).team_id}`)
        answered(one, 200)
        fieldsOf(one.body, ['id', 'name', 'region'], 'the team')
      },
    },
    {
      name: 'creates a team API key that works until it is deleted',
      spec: 'Authentication 4',
      async run(session) {
        const body = { label: String(session.made['run']), team_id: place(session).team_id }
        const made = await session.call('management', 'POST', keys(session), { body })
        answered(made, 200, 201)
        const { id, value } = fieldsOf(made.body, ['id', 'value'], 'the key')
        const headers = { 'x-service-api-key': String(value) }
        answered(await session.call('anybody', 'GET', '/v2/user?limit=1', { headers }), 200)
        answered(await session.call('management', 'DELETE', `${keys(session)}?api_key_id=${id}`), 200)
        refusedWith(await session.call('anybody', 'GET', '/v2/user?limit=1', { headers }), 401, 403)
      },
    },
    {
      name: 'creates, lists and deletes a management key, and never lists its value',
      spec: 'Authentication 3',
      async run(session) {
        const body = { label: String(session.made['run']), role: 'team_admin', team_role_bindings: [{ team_id: place(session).team_id }] }
        const made = await session.call('management', 'POST', `${org(session)}/management_key`, { body })
        answered(made, 200, 201)
        const { id, key } = fieldsOf(made.body, ['id', 'key'], 'the key')
        const { body: list } = await session.call('management', 'GET', `${org(session)}/management_key`)
        must(!JSON.stringify(list).includes(String(key)), 'the list shows the key')
        const headers = { 'x-management-key': String(key) }
        refusedWith(await session.call('anybody', 'GET', org(session), { headers }), 403)
        answered(await session.call('management', 'DELETE', `${org(session)}/management_key/${id}`), 200)
        refusedWith(await session.call('anybody', 'GET', `${org(session)}/team`, { headers }), 401, 403)
      },
    },
    {
      name: 'hides other organizations',
      spec: 'Authentication 3',
      run: async ({ call }) => void refusedWith(await call('management', 'GET', '/v1/org/00000000-0000-4000-8000-000000000000'), 403, 404),
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
        const made = await session.call('management', 'POST', hooks(session), { body })
        answered(made, 200, 201)
        session.made['webhook_id'] = String(fieldsOf(made.body, ['id', 'url', 'disabled', 'filter_types'], 'the webhook')['id'])
        answered(await session.call('management', 'GET', hook(session)), 200)
        const { body: list } = await session.call('management', 'GET', hooks(session))
        must(
          listOf(fieldsOf(list, ['data'])['data'], 'data').some(({ id }) => id === session.made['webhook_id']),
          'it is not in the list',
        )
      },
    },
    {
      name: 'changes a webhook',
      spec: 'Other operations',
      async run(session) {
        const answer = await session.call('management', 'PATCH', hook(session), { body: { description: 'changed' } })
        answered(answer, 200)
        must(fieldsOf(answer.body, ['description'])['description'] === 'changed', 'the change is missing')
      },
    },
    {
      name: 'returns a secret in the format of the public libraries, and rotates it',
      spec: 'Other operations',
      async run(session) {
        const secret = async () => fieldsOf((await session.call('management', 'GET', `${hook(session)}/secret`)).body, ['key'])['key']
        const before = await secret()
        must(/^whsec_[A-Za-z0-9+/]+=*$/.test(String(before)), 'the secret is not whsec_ and base64')
        answered(await session.call('management', 'POST', `${hook(session)}/secret/rotate`, { body: {} }), 200, 204)
        must((await secret()) !== before, 'the secret did not change')
      },
    },
    {
      name: 'stores custom headers',
      spec: 'Other operations',
      async run(session) {
        answered(await session.call('management', 'PUT', `${hook(session)}/headers`, { body: { headers: { 'X-From': 'here' } } }), 200, 204)
        const { body } = await session.call('management', 'GET', `${hook(session)}/headers`)
        must(JSON.stringify(fieldsOf(body, ['headers'])['headers']).includes('here'), 'the headers are missing')
      },
    },
    {
      name: 'rejects a webhook with an invalid URL',
      spec: 'Other operations',
      run: async (session) =>
        void refusedWith(await session.call('management', 'POST', hooks(session), { body: { url: 'not-an-address' } }), 400, 422),
    },
    {
      name: 'deletes a webhook',
      spec: 'Other operations',
      async run(session) {
        answered(await session.call('management', 'DELETE', hook(session)), 200, 204)
        refusedWith(await session.call('management', 'GET', hook(session)), 404)
      },
    },
  ],
}
