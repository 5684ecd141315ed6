import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import { allScopesOf } from '../providers/oauth-settings.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type ScopeRequirement = { user_must_grant: string[]; user_may_grant: string[] }

export async function listRequirements(app: App, caller: ManagementCaller, team_id: string, provider: SourceSlug | null | undefined) {
  await requireTeam(app, caller, team_id)
  return { requirements: await store.listRequirements(app.db, team_id, provider ?? undefined) }
}

/** Sets the scopes of the named sources. Null removes them, and other sources keep theirs. */
export const putRequirements = (
  app: App,
  caller: ManagementCaller,
  team_id: string,
  body: { [P in SourceSlug]?: ScopeRequirement | null | undefined },
) =>
  inTransaction(app, async (app) => {
    await requireTeam(app, caller, team_id)
    for (const [provider, required] of Object.entries(body) as [SourceSlug, ScopeRequirement | null | undefined][]) {
      if (required === undefined) continue
      if (required === null) await store.deleteRequirements(app.db, team_id, provider)
      else {
        rules.checkScopes(provider, allScopesOf(app, provider), required)
        await store.upsertRequirements(app.db, { team_id, provider, ...required })
      }
    }
    return listRequirements(app, caller, team_id, undefined)
  })

export const requirementsOf = (app: App, team_id: string, provider: SourceSlug) => store.findRequirements(app.db, team_id, provider)
