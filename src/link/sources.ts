import type { App, LinkCaller } from '../app.ts'
import { type SourceSlug, sources } from '../contract/sources.ts'
import { clientFor } from '../providers/oauth-client.ts'
import { providerOf } from '../sources/actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The sources that a token connects here: those it is for, and that can be reached. */
export async function listLinkSources(app: App, { team_id, key_id }: Pick<LinkCaller, 'team_id' | 'key_id'>) {
  const token = await store.getToken(app.db, team_id, key_id)
  const wanted = rules.sourcesOf(token)
  const able = await Promise.all(wanted.map((slug) => canBeLinked(app, team_id, slug)))
  return wanted.filter((_, i) => able[i]).map((slug) => linkSource(app, slug))
}

/** Sources that push are connected from a phone, not from here. */
export async function canBeLinked(app: App, team_id: string, slug: SourceSlug) {
  const { auth_type } = sources[slug]
  if (auth_type === 'password' || auth_type === 'email') return app.config.ENVIRONMENT === 'sandbox'
  return auth_type === 'oauth' && (await clientFor(app, team_id, slug)) !== undefined
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
