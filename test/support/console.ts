import { createClient, sendRequest } from '../../src/contract/client.ts'
import type { PersonRole } from '../../src/contract/common.ts'
import type { ResponseBody, Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import type { App } from '../../src/platform/app.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { nextNumber } from './seeded.ts'
import type { Tenant } from './world.ts'

type Headers = Record<string, string>

/** Headers that the console sends. */
export const consoleHeaders: Headers = { 'x-assay-console': '1', 'sec-fetch-site': 'same-origin' }

export const cookieOf = (headers: globalThis.Headers) => (headers.get('set-cookie') ?? '').split(';')[0] as string

export async function signIn(base: string, body: object, headers: Headers = {}) {
  const response = await sendRequest(base, endpoints.beginSession, { body, headers: { ...consoleHeaders, ...headers } })
  if (response.status !== 200)
    throw Object.assign(new Error(`sign-in returned ${response.status}`), { status: response.status, body: response.body })
  const cookie = cookieOf(response.headers)
  return browser(base, cookie)
}

/** Requests of a console session. `forTeam` adds the selected team. */
export function browser(base: string, cookie: string, more: Headers = {}) {
  const headers = { ...consoleHeaders, cookie, ...more }
  return {
    cookie,
    headers,
    api: createClient(base, headers),
    forTeam: (team_id: string, also: Headers = {}) => browser(base, cookie, { ...more, 'x-assay-team': team_id, ...also }),
    send: (row: Row, input: { params?: object; query?: object; body?: unknown; headers?: Headers } = {}) =>
      sendRequest(base, row, { ...input, headers: { ...headers, ...input.headers } }),
  }
}

/** A low password cost keeps the tests fast. */
export const fastPasswords = { PASSWORD_COST: '10' }

export const PASSWORD = 'a lantern over quiet water'

type InviteOptions = { role?: PersonRole; team_role_bindings?: { team_id: string }[]; email?: string }

/** Invites a person, accepts the invitation and returns the session. */
export async function joinOrganization(
  one: { base: string; app: App },
  { admin, org_id }: Tenant,
  { email, ...access }: InviteOptions = {},
) {
  const address = email ?? `keeper${nextNumber('keeper')}@harbor.example`
  const { link } = await admin.createInvite({ params: { org_id }, body: { email: address, ...access } })
  const token = link?.split('#')[1] as string
  const { api } = browser(one.base, '')
  const { totp_secret, setup } = await api.acceptInvitation({ body: { token, name: 'Ottoline Keeper', password: PASSWORD } })
  const code = () => codeAt(fromBase32(totp_secret), stepAt(one.app.wall()))
  const usedCode = code()
  const body = { token, setup, code: usedCode }
  const response = await sendRequest(one.base, endpoints.completeInvitation, { body, headers: consoleHeaders })
  const { session, recovery_codes } = response.body as ResponseBody<typeof endpoints.completeInvitation>
  return {
    ...browser(one.base, cookieOf(response.headers)),
    email: address,
    code,
    usedCode,
    session,
    recovery_codes,
    token,
    setup,
    totp_secret,
  }
}
