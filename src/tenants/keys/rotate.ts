import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { visibleTeams } from '../teams/rules.ts'
import { insertNewManagementKey, insertNewTeamKey, requireManagementKey } from './actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Replaces a team API key with one that has the same rights. The tokens of the old key belong to the new one from now on. */
export const rotateTeamKey = (app: App, caller: ManagementCaller, id: string, old_key_expires_at?: string | null) =>
  inTransaction(app, async (app) => {
    rules.checkExpiry(old_key_expires_at, app.wall())
    const [owner] = await store.findKeyTeams(app.db, caller.org_id, visibleTeams(caller), [id])
    const old = owner && (await store.lockLiveTeamKey(app.db, owner.team_id, id, app.wall()))
    if (!old) throw problem('TEAM_KEY_NOT_FOUND', 'No live team API key of your teams has this ID. List the team API keys to find it.')
    const created = await insertNewTeamKey(app, caller, old)
    await store.replaceTeamKey(app.db, old.team_id, id, { successor_id: created.id, ...endOf(app, old, old_key_expires_at) })
    app.wake('caller changed', old.team_id)
    return created
  })

/** Replaces a management key with one that has the same role and teams. */
export const rotateManagementKey = (app: App, caller: ManagementCaller, id: string, old_key_expires_at?: string | null) =>
  inTransaction(app, async (app) => {
    rules.checkExpiry(old_key_expires_at, app.wall())
    await store.lockManagementKey(app.db, caller.org_id, id)
    const old = await requireManagementKey(app, caller, id)
    const { label, role, team_ids } = old
    const created = await insertNewManagementKey(app, caller, { label, role, team_ids: role === 'team_admin' ? team_ids : undefined })
    await store.replaceManagementKey(app.db, caller.org_id, id, { successor_id: created.id, ...endOf(app, old, old_key_expires_at) })
    return created
  })

const endOf = (app: App, old: { expires_at: string | null }, expires_at: string | null | undefined) =>
  expires_at ? { expires_at: rules.earlier(expires_at, old.expires_at) } : { revoked_at: app.wall() }
