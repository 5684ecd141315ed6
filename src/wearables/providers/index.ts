import { isSource } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { accessTo } from '../connections/access.ts'
import type { Account } from '../connections/account.ts'
import type { Connection } from '../connections/actions.ts'
import { pullDemo } from './demo/index.ts'
import { demoResources } from './demo/rules-report.ts'
import { revokeToken } from './oauth.ts'
import { clientFor } from './oauth-client.ts'

/** The wearable source behind a connection. What a source cannot do is left out; one that pushes needs nothing of us. */
export type Provider = {
  /** Makes sure that the source still lets us in. `broken` is for good, and told by then. */
  renew?(app: App, connection: Connection): Promise<'ready' | 'broken' | 'unavailable'>
  /** The resources whose past it fetches. */
  history?: string[]
  /** Fetches what is new, or everything that the source still has. */
  pull?(app: App, connection: Connection, reach: 'new' | 'history'): Promise<void>
  /** Tells the source that the user has left. Throws where it has to be told again. */
  leave?(app: App, connection: Connection, account: Account): Promise<void>
}

const oauth: Provider = {
  renew: async (app, connection) => (await accessTo(app, connection)).state,
  leave: async (app, { team_id, provider }, { tokens }) => {
    const client = isSource(provider) ? await clientFor(app, team_id, provider) : undefined
    if (!client || !tokens) return
    if (!(await revokeToken(app, client, tokens.refresh_token ?? tokens.access_token))) throw new Error('The source did not take notice')
  },
}

const demo: Provider = { history: demoResources, pull: pullDemo }

/** By the kind of the connection. */
const providers: Record<string, Provider> = { oauth, demo }

export const providerFor = ({ kind }: Connection): Provider => providers[kind] ?? {}
