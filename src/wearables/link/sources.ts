import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import { regionsOf } from '../providers/oauth-settings.ts'
import { listCustomSources } from '../team-sources/credentials.ts'
import { isSetUp } from '../team-sources/oauth-client.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type TokenScope = Pick<LinkCaller, 'team_id' | 'key_id'>

/** Lists the sources that a token covers and that can be connected here. */
export const listLinkSources = async (app: App, caller: TokenScope) =>
  (await offersOf(app, caller)).filter(({ demo }) => !demo).map(({ slug }) => linkSource(app, slug))

/** A source on the link page. `demo` means that the sandbox connects it with demo data. */
export type Offer = { slug: SourceSlug; demo: boolean; regions?: Record<string, { name: string }> }

/** Lists the sources of the link page. The sandbox offers every source. */
export async function offersOf(app: App, { team_id, key_id }: TokenScope): Promise<Offer[]> {
  const token = await store.getToken(app.db, team_id, key_id)
  const teamSources = await listCustomSources(app, team_id)
  return rules
    .sourcesOf(token)
    .map((slug) => ({ slug, demo: !canBeLinked(app, slug, teamSources), regions: regionsOf(app, slug) }))
    .filter(({ demo }) => !demo || app.config.ENVIRONMENT === 'sandbox')
}

/** Sources that push are connected from a phone. */
function canBeLinked(app: App, slug: SourceSlug, teamSources: Set<string>) {
  const { auth_type } = sources[slug]
  if (auth_type === 'password' || auth_type === 'email') return app.config.ENVIRONMENT === 'sandbox'
  return auth_type === 'oauth' && isSetUp(app, slug, teamSources)
}

/** The source in responses of the link endpoints. */
export function linkSource(app: App, slug: SourceSlug) {
  const { id, description, auth_type, source_type, backfill_days } = sources[slug]
  const form_components = auth_type === 'password' ? { username: true, password: true } : auth_type === 'email' ? { email: true } : {}
  return {
    ...{ ...providerOf(app, slug), id, description, auth_type, source_type, form_components },
    ...{ group: null, oauth_url: null as string | null, is_active: true, backfill_num_days: backfill_days },
  }
}
