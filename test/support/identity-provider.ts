import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { atEnd } from './at-end.ts'

export type Account = { email?: string; email_verified?: boolean; name?: string; groups?: string[] }

export const CLIENT = { client_id: 'assay', client_secret: 'only-for-tests-client-secret' }

/** Starts an OpenID provider that signs in `current.subject` without asking. */
export async function identityProvider(redirect_uri: string) {
  const accounts = new Map<string, Account>()
  const current = { subject: '' }
  const http = createServer()
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void http.close())
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirect_uri] }],
    scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['only-for-tests'] },
    findAccount: (_, accountId) => ({ accountId, claims: async () => ({ sub: accountId, ...accounts.get(accountId) }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.client_id, accountId: oidc.session?.accountId as string })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  const serve = provider.callback()
  http.on('request', async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return serve(request, response)
    await provider.interactionFinished(request, response, { login: { accountId: current.subject } })
  })
  return {
    issuer,
    /** Signs in as this account from now on. */
    be: (subject: string, account: Account) => {
      accounts.set(subject, account)
      current.subject = subject
    },
  }
}
