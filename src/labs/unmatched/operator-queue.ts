import { type App, inTransaction } from '../../platform/app.ts'
import type { Db } from '../../platform/db/open.ts'
import { setupProblem } from '../../platform/problem.ts'
import { listAllTeams } from '../../tenants/teams/actions.ts'
import { restoredResults } from './documents.ts'
import { openUnassigned, queueForTeam } from './queue.ts'
import * as store from './store.ts'

const MAX_LISTED = 1000

/** Results whose lab account belongs to no team or to several, the oldest first. */
export const listUnassignedResults = (app: App) => store.listUnassigned(app.db, MAX_LISTED)

/** Moves a result from the operator's queue to that of a team, where a person accepts or rejects it. */
export const assignUnassignedResult = (app: App, id: string, team_id: string) =>
  inTransaction(app, async (app) => {
    const row = await store.lockUnassigned(app.db, id)
    if (!row || row.assigned_at) throw setupProblem('There is no open result with this ID; list them with: assay unmatched-results list')
    if (!(await listAllTeams(app)).some((team) => team.id === team_id))
      throw setupProblem('No team has this ID; list teams with: assay team')
    const { received, ...unmatched } = openUnassigned(app, id, row.sealed)
    const queued = await queueForTeam(app, team_id, { ...unmatched, received: restoredResults(received), message_ref: row.message_ref })
    await store.markAssigned(app.db, id, team_id, app.wall())
    return { id, team_id, raw_result_id: queued }
  })

/** The results of all queues that nobody has reviewed, by interpretation. */
export const countPending = (db: Db) => store.countPending(db)
