import { createClient, sendRequest } from '../../src/contract/client.ts'
import type { PersonRole } from '../../src/contract/common.ts'
import type { ResponseBody, Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import type { App } from '../../src/platform/app.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import type { Tenant } from './world.ts'

type Headers = Record<string, string>

/** Headers that the console sends. */
export const fromConsole: Headers = { 'x-assay-console': '1', 'sec-fetch-site': 'same-origin' }

export const cookieIn = (headers: globalThis.Headers) => (headers.get('set-cookie') ?? '').split(';')[0] as string

export async function signIn(base: string, body: object, headers: Headers = {}) {
  const answer = await sendRequest(base, endpoints.beginSession, { body, headers: { ...fromConsole, ...headers } })
  if (answer.status !== 200)
    throw Object.assign(new Error(`sign-in answered ${answer.status}`), { status: answer.status, body: answer.body })
  const cookie = cookieIn(answer.headers)
  return browser(base, cookie)
}

/** `of` adds the selected team to the requests. */
export function browser(base: string, cookie: string, more: Headers = {}) {
  const headers = { ...fromConsole, cookie, ...more }
  return {
    cookie,
    headers,
    api: createClient(base, headers),
    of: (team_id: string, also: Headers = {}) => browser(base, cookie, { ...more, 'x-assay-team': team_id, ...also }),
    ask: (row: Row, sent: { params?: object; query?: object; body?: unknown; headers?: Headers } = {}) =>
      sendRequest(base, row, { ...sent, headers: { ...headers, ...sent.headers } }),
  }
}

/** A low password cost keeps the tests fast. */
export const quick = { PASSWORD_COST: '10' }

export const PASSWORD = 'a lantern over quiet water'

let invited = 0

type Joining = { role?: PersonRole; team_role_bindings?: { team_id: string }[]; email?: string }

/** Invites a person, accepts the invitation and returns the session. */
export async function joined(one: { base: string; app: App }, { admin, org_id }: Tenant, { email, ...wanted }: Joining = {}) {
  const address = email ?? `keeper${++invited}@harbour.example`
  const { link } = await admin.createInvite({ params: { org_id }, body: { email: address, ...wanted } })
  const token = link?.split('#')[1] as string
  const { api } = browser(one.base, '')
  const { totp_secret } = await api.openInvitation({ body: { token } })
  const code = () => codeAt(fromBase32(totp_secret), stepAt(one.app.wall()))
  const body = { token, name: 'Ottoline Keeper', password: PASSWORD, code: code() }
  const answer = await sendRequest(one.base, endpoints.acceptInvitation, { body, headers: fromConsole })
  const { session, recovery_codes } = answer.body as ResponseBody<typeof endpoints.acceptInvitation>
  return { ...browser(one.base, cookieIn(answer.headers)), email: address, code, session, recovery_codes, token }
}
