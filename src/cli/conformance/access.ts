import { assertThat, expectRefusal, type Family, fieldsOf, type Session } from './session.ts'

const PATH = '/v2/user/metrics'

export const access: Family = {
  name: 'Authentication and errors',
  checks: [
    {
      name: 'rejects a request without a key, with JSON',
      spec: 'Authentication 1',
      run: async ({ call }) => void expectRefusal(await call('none', 'GET', PATH), 401, 403),
    },
    {
      name: 'rejects an unknown key, with JSON',
      spec: 'Authentication 1',
      run: async ({ call }) =>
        void expectRefusal(await call('none', 'GET', PATH, { headers: { 'x-service-api-key': 'sk_us_nobody' } }), 401, 403),
    },
    {
      name: 'rejects a management key in place of a team API key',
      spec: 'Authentication 4',
      run: async ({ call }) => void expectRefusal(await call('management', 'GET', PATH), 401, 403),
    },
    {
      name: 'rejects a team API key on the management API',
      spec: 'Authentication 2',
      run: async ({ call, target }: Session) => {
        const org = target?.org_id ?? '00000000-0000-4000-8000-000000000000'
        expectRefusal(await call('team', 'GET', `/v1/org/${org}`), 401, 403)
      },
    },
    {
      name: 'returns 404 with JSON for an unknown path',
      spec: 'Errors',
      run: async ({ call }) => void expectRefusal(await call('team', 'GET', '/v2/user/00000000-0000-4000-8000-000000000000'), 404),
    },
    {
      name: 'rejects a missing body, with JSON',
      spec: 'What the service does',
      run: async ({ call }) => {
        const { status, body } = await call('team', 'POST', '/v2/user', { headers: { 'content-type': 'application/json' } })
        assertThat(status >= 400 && status < 500, `returned ${status} instead of an error`)
        fieldsOf(body, ['detail'], 'the error response')
      },
    },
  ],
}
