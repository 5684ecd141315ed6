import { randomUUID } from 'node:crypto'
import type { Plan } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { insertTeam } from './actions.ts'
import * as store from './store.ts'

export const getOrg = (app: App, { org_id }: Pick<ManagementCaller, 'org_id'>) => store.getOrg(app.db, org_id)

export const renameOrg = (app: App, { org_id }: ManagementCaller, name: string) =>
  inTransaction(app, (app) => store.updateOrg(app.db, org_id, { name }))

/** Creates an organization with its first team. */
export const createOrg = (app: App, input: { org: string; team: string; plan: Plan; region: string }) =>
  inTransaction(app, async (app) => {
    const org = { id: randomUUID(), name: input.org, plan: input.plan, created_at: app.wall() }
    await store.insertOrg(app.db, org)
    return { org, team: await insertTeam(app, org.id, { name: input.team, region: input.region }) }
  })

/** The oldest organization and its oldest team; undefined on an empty database. The team is undefined if all were deleted. */
export async function findFirstOrgAndTeam(app: App) {
  const [org] = await store.listOrgs(app.db)
  return org && { org, team: await store.findFirstTeam(app.db, org.id) }
}

export const listOrgs = (app: App) => store.listOrgs(app.db)

/** Only the operator changes a plan; the API has no endpoint for it. */
export const setPlan = (app: App, org_id: string, plan: Plan) =>
  inTransaction(app, (app) => {
    app.wake('caller changed', org_id)
    return store.updateOrg(app.db, org_id, { plan })
  })

export const orgOfTeam = async (app: App, team_id: string) => (await store.getTeam(app.db, team_id)).org_id
