import { client, request } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'

type Headers = Record<string, string>

/** What the console's own pages send. */
export const fromConsole: Headers = { 'x-assay-console': '1', 'sec-fetch-site': 'same-origin' }

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieIn = (headers: globalThis.Headers) => (headers.get('set-cookie') ?? '').split(';')[0] as string

/** A browser in which somebody signed in. */
export async function signIn(base: string, body: object, headers: Headers = {}) {
  const answer = await request(base, endpoints.beginSession, { body, headers: { ...fromConsole, ...headers } })
  if (answer.status !== 200)
    throw Object.assign(new Error(`sign-in answered ${answer.status}`), { status: answer.status, body: answer.body })
  const cookie = cookieIn(answer.headers)
  return browser(base, cookie)
}

/** Requests with a session, and with the team chosen where there is one. */
export function browser(base: string, cookie: string, more: Headers = {}) {
  const headers = { ...fromConsole, cookie, ...more }
  return {
    cookie,
    headers,
    api: client(base, headers),
    of: (team_id: string, also: Headers = {}) => browser(base, cookie, { ...more, 'x-assay-team': team_id, ...also }),
    ask: (row: Row, sent: { params?: object; query?: object; body?: unknown; headers?: Headers } = {}) =>
      request(base, row, { ...sent, headers: { ...headers, ...sent.headers } }),
  }
}
