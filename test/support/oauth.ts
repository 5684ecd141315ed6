import { type Connection, connectionFor } from '../../src/wearables/connections/actions.ts'
import { openAuthorizationServer } from './authorization-server.ts'
import { aLink, at } from './connections.ts'
import { type Tenant, world } from './world.ts'

export const fitbit = { oauth_provider: 'fitbit' as const }
export const back = 'https://shop.example/back?order=1'

type Wanted = Parameters<typeof aLink>[2]

/** A world with a source of its own: Fitbit with an account of the deployment, Oura with addresses only, Ultrahuman with an account only. */
export async function oauthWorld() {
  const source = await openAuthorizationServer()
  const { id: client_id, secret: client_secret } = source.client
  const OAUTH_SOURCES = JSON.stringify({
    fitbit: source.setting({ client_id, client_secret }),
    oura: source.setting({ client_auth: 'body' }),
    ultrahuman: { client_id, client_secret },
  })
  const w = await world({ env: { OAUTH_SOURCES } })
  const linkOf = (t: Tenant, wanted: Wanted = {}) => aLink(w.base, t.api, { redirect_url: back, ...wanted })

  /** What the source's page does: the browser comes back to us, and goes where we send it. */
  async function comeBack(url: string) {
    const answer = await fetch(at(w.base, url), { redirect: 'manual' })
    const location = answer.headers.get('location')
    const went = location ? Object.fromEntries(new URL(location).searchParams) : undefined
    return { status: answer.status, text: await answer.text(), went, location }
  }

  async function connect(t: Tenant, wanted: Wanted = {}) {
    const { link, user_id } = await linkOf(t, wanted)
    const { oauth_url } = await link.startOAuth({ params: fitbit })
    return { user_id, ...(await comeBack(source.visit(oauth_url as string))) }
  }

  const connectionOf = async ({ team_id }: Tenant, user_id: string) =>
    (await connectionFor(w.app, { team_id, user_id }, 'fitbit')) as Connection

  return { w, source, OAUTH_SOURCES, linkOf, comeBack, connect, connectionOf }
}
