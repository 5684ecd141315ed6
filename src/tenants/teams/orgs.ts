import { randomUUID } from 'node:crypto'
import type { Plan } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { insertTeam } from './actions.ts'
import * as store from './store.ts'

export const getOrg = (app: App, { org_id }: Pick<ManagementCaller, 'org_id'>) => store.getOrg(app.db, org_id)

export const renameOrg = (app: App, { org_id }: ManagementCaller, name: string) =>
  inTransaction(app, (app) => store.updateOrg(app.db, org_id, { name }))

/** Makes an organisation with its first team. */
export const foundOrg = (app: App, names: { org: string; team: string; plan: Plan; region: string }) =>
  inTransaction(app, async (app) => {
    const org = { id: randomUUID(), name: names.org, plan: names.plan, created_at: app.wall() }
    await store.insertOrg(app.db, org)
    return { org, team: await insertTeam(app, org.id, { name: names.team, region: names.region }) }
  })

/** The oldest organisation and its oldest team, or undefined on an empty database. An organisation may have deleted all its teams. */
export async function firstOrgAndTeam(app: App) {
  const [org] = await store.listOrgs(app.db)
  return org && { org, team: await store.firstTeam(app.db, org.id) }
}

export const listOrgs = (app: App) => store.listOrgs(app.db)

/** The operator's way to change a plan; there is none through the API. */
export const setPlan = (app: App, org_id: string, plan: Plan) => inTransaction(app, (app) => store.updateOrg(app.db, org_id, { plan }))
