import type { z } from 'zod'
import type { TeamPatch } from '../../contract/tenants/management.ts'
import { changeAtEnd } from '../../delivery/events/change-log.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import * as teams from '../../tenants/teams/actions.ts'

/** Opting in to partial results applies to later events, like a new filter of a webhook, so it needs the end of the log. */
export async function patchTeam(app: App, caller: ManagementCaller, team_id: string, patch: z.output<typeof TeamPatch>) {
  const optsIn = patch[app.config.ENVIRONMENT]?.partial_webhooks_enabled
  if (typeof optsIn !== 'boolean') return teams.patchTeam(app, caller, team_id, patch, inTransaction)
  await teams.requireTeam(app, caller, team_id)
  return teams.patchTeam(app, caller, team_id, patch, (app, change) => changeAtEnd(app, team_id, change))
}
