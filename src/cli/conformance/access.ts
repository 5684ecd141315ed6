import { type Family, fieldsOf, must, refusedWith, type Session } from './session.ts'

const aRoute = '/v2/user/metrics'

export const access: Family = {
  name: 'Authentication and errors',
  checks: [
    {
      name: 'a request without a key is refused with JSON',
      spec: 'Authentication 1',
      run: async ({ call }) => void refusedWith(await call('anybody', 'GET', aRoute), 401, 403),
    },
    {
      name: 'an unknown key is refused with JSON',
      spec: 'Authentication 1',
      run: async ({ call }) =>
        void refusedWith(await call('anybody', 'GET', aRoute, { headers: { 'x-service-api-key': 'sk_us_nobody' } }), 401, 403),
    },
    {
      name: 'a management key is no team API key',
      spec: 'Authentication 4',
      run: async ({ call }) => void refusedWith(await call('management', 'GET', aRoute), 401, 403),
    },
    {
      name: 'a team API key does not open the management API',
      spec: 'Authentication 2',
      run: async ({ call, place }: Session) => {
        const org = place?.org_id ?? '00000000-0000-4000-8000-000000000000'
        refusedWith(await call('team', 'GET', `/v1/org/${org}`), 401, 403)
      },
    },
    {
      name: 'what does not exist is 404 with JSON',
      spec: 'Errors',
      run: async ({ call }) => void refusedWith(await call('team', 'GET', '/v2/user/00000000-0000-4000-8000-000000000000'), 404),
    },
    {
      name: 'a missing body is refused with JSON',
      spec: 'What the service does',
      run: async ({ call }) => {
        const { status, body } = await call('team', 'POST', '/v2/user', { headers: { 'content-type': 'application/json' } })
        must(status >= 400 && status < 500, `answered ${status} instead of a refusal`)
        fieldsOf(body, ['detail'], 'the refusal')
      },
    },
  ],
}
