import { type Connection, connectionFor } from '../../src/wearables/connections/actions.ts'
import { openAuthorizationServer } from './authorization-server.ts'
import { aLink, localUrl } from './connections.ts'
import type { OAuthSlug } from './consent.ts'
import { type Tenant, world } from './world.ts'

export const fitbit = { oauth_provider: 'fitbit' as const }
export const redirectUrl = 'https://shop.example/back?order=1'

type OAuthSource = { oauth_provider: OAuthSlug }
type LinkOptions = Parameters<typeof aLink>[2]

/** A world with an OAuth source: Fitbit and Strava fully configured, Oura with URLs only, Ultrahuman with credentials only. */
export async function oauthWorld() {
  const source = await openAuthorizationServer()
  const { id: client_id, secret: client_secret } = source.client
  const OAUTH_SOURCES = JSON.stringify({
    fitbit: source.setting({ client_id, client_secret }),
    oura: source.setting({ client_auth: 'body', api_url: source.origin }),
    strava: source.setting({ client_id, client_secret, client_auth: 'body', revoke_auth: 'basic', scopes: ['activity:read_all'] }),
    ultrahuman: { client_id, client_secret },
  })
  const w = await world({ env: { OAUTH_SOURCES } })
  const createLink = (t: Tenant, options: LinkOptions = {}) => aLink(w.base, t.api, { redirect_url: redirectUrl, ...options })

  /** Follows the redirect of the source to our callback, like the browser. */
  async function followCallback(url: string) {
    const response = await fetch(localUrl(w.base, url), { redirect: 'manual' })
    const location = response.headers.get('location')
    const redirectParams = location ? Object.fromEntries(new URL(location).searchParams) : undefined
    return { status: response.status, text: await response.text(), redirectParams, location }
  }

  async function connect(t: Tenant, options: LinkOptions = {}, params: OAuthSource = fitbit) {
    const { link, user_id } = await createLink(t, options)
    const { oauth_url } = await link.startOAuth({ params })
    return { user_id, ...(await followCallback(source.visit(oauth_url as string))) }
  }

  const connectionOf = async ({ team_id }: Tenant, user_id: string) =>
    (await connectionFor(w.app, { team_id, user_id }, 'fitbit')) as Connection

  return { w, source, OAUTH_SOURCES, createLink, followCallback, connect, connectionOf }
}
