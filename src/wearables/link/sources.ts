import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import { isSetUp } from '../providers/oauth-client.ts'
import { ownSources } from '../team-sources/credentials.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type Whose = Pick<LinkCaller, 'team_id' | 'key_id'>

/** The sources that a token connects here: those it is for, and that can be reached. */
export const listLinkSources = async (app: App, caller: Whose) =>
  (await offersOf(app, caller)).filter(({ demo }) => !demo).map(({ slug }) => linkSource(app, slug))

/** A source to choose from; as a `demo` where the sandbox has nothing but made-up data of it. */
export type Offer = { slug: SourceSlug; demo: boolean }

/** What an end user chooses from on our page: in the sandbox every source can be tried. */
export async function offersOf(app: App, { team_id, key_id }: Whose): Promise<Offer[]> {
  const token = await store.getToken(app.db, team_id, key_id)
  const own = await ownSources(app, team_id)
  return rules
    .sourcesOf(token)
    .map((slug) => ({ slug, demo: !canBeLinked(app, slug, own) }))
    .filter(({ demo }) => !demo || app.config.ENVIRONMENT === 'sandbox')
}

/** Sources that push are connected from a phone, not from here. */
function canBeLinked(app: App, slug: SourceSlug, own: Set<string>) {
  const { auth_type } = sources[slug]
  if (auth_type === 'password' || auth_type === 'email') return app.config.ENVIRONMENT === 'sandbox'
  return auth_type === 'oauth' && isSetUp(app, slug, own)
}

/** A source as the link routes show it. */
export function linkSource(app: App, slug: SourceSlug) {
  const { id, description, auth_type, source_type, backfill_days } = sources[slug]
  const form_components = auth_type === 'password' ? { username: true, password: true } : auth_type === 'email' ? { email: true } : {}
  return {
    ...{ ...providerOf(app, slug), id, description, auth_type, source_type, form_components },
    ...{ group: null, oauth_url: null as string | null, is_active: true, backfill_num_days: backfill_days },
  }
}
