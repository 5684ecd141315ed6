import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type App, withoutRequestRows } from '../../platform/app.ts'
import type { LinkCaller, TeamCaller } from '../../platform/callers.ts'
import { startOAuth } from './oauth.ts'
import * as rules from './rules.ts'
import { linkSource } from './sources.ts'
import * as store from './store.ts'
import { authenticateLinkToken } from './tokens.ts'

/** A token of another team is invalid. */
export async function startLink(app: App, { team_id }: TeamCaller, { link_token, provider }: { link_token: string; provider: SourceSlug }) {
  const caller = await authenticateLinkToken(app, link_token)
  if (caller.team_id !== team_id) rules.checkToken(undefined, app.wall())
  if (sources[provider].auth_type === 'oauth') return startOAuth(withoutRequestRows(app), caller, provider)
  rules.checkCovered(await store.getToken(app.db, team_id, caller.key_id), provider)
  return linkSource(app, provider)
}

export const getLinkState = (app: App, { team_id, key_id }: LinkCaller) => store.getToken(app.db, team_id, key_id)
