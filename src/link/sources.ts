import type { App, LinkCaller } from '../app.ts'
import { type SourceSlug, sources } from '../contract/sources.ts'
import { isSetUp } from '../providers/oauth-client.ts'
import { providerOf } from '../sources/actions.ts'
import { ownSources } from '../team-sources/credentials.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The sources that a token connects here: those it is for, and that can be reached. */
export async function listLinkSources(app: App, { team_id, key_id }: Pick<LinkCaller, 'team_id' | 'key_id'>) {
  const token = await store.getToken(app.db, team_id, key_id)
  const wanted = rules.sourcesOf(token)
  const own = await ownSources(app, team_id)
  return wanted.filter((slug) => canBeLinked(app, slug, own)).map((slug) => linkSource(app, slug))
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
