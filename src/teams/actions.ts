import { randomUUID } from 'node:crypto'
import { type App, DAY, inTransaction, later, type ManagementCaller } from '../app.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import type { Plan } from '../db/tables.ts'
import { pageAfter, pageOf } from '../paging.ts'
import { Problem, problem } from '../problem.ts'
import { open, seal } from '../sealing/seal.ts'
import { newTeamKey, teamKey } from '../sealing/vault.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export async function getOrg(app: App, { org_id }: ManagementCaller) {
  const org = await store.findOrg(app.db, org_id)
  return org as NonNullable<typeof org>
}

export const renameOrg = (app: App, { org_id }: ManagementCaller, name: string) =>
  inTransaction(app, async (app) => {
    const org = await store.updateOrg(app.db, org_id, { name })
    return org as NonNullable<typeof org>
  })

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

/** Enables exactly these closed betas for a team. */
export const setBetas = (app: App, team_id: string, betas: string[]) => inTransaction(app, (app) => store.setBetas(app.db, team_id, betas))

/** The teams that a query may look at: those of the key, narrowed to the one that was asked for. */
export function visibleTeams({ team_ids }: ManagementCaller, asked?: string | null) {
  if (!asked) return team_ids
  return isReachable({ team_ids }, asked) ? [asked] : []
}

const isReachable = ({ team_ids }: Pick<ManagementCaller, 'team_ids'>, team_id: string) => !team_ids || team_ids.includes(team_id)

/** Refuses a team that does not exist in the organisation, or that a Team Management Key is not bound to, in the same words. */
export async function requireTeam(app: App, caller: ManagementCaller, team_id: string, find = store.findTeam) {
  const team = isReachable(caller, team_id) ? await find(app.db, caller.org_id, team_id) : undefined
  if (!team) throw problem('TEAM_NOT_FOUND', 'There is no such team that this key can reach; list the teams to see their ids.')
  return team
}

type ListQuery = {
  team_id?: string | null | undefined
  region?: string[] | null | undefined
  search_query?: string | null | undefined
  next_cursor?: string | null | undefined
}

export async function listTeams(app: App, caller: ManagementCaller, query: ListQuery) {
  const page = pageAfter(query.next_cursor)
  const found = await store.listTeams(app.db, caller.org_id, { ...query, team_ids: visibleTeams(caller, query.team_id) }, page)
  const { rows, next_cursor } = pageOf(found, page, (team) => ({ at: team.created_on, id: team.id }))
  return { teams: rows, next_cursor }
}

export async function getTeam(app: App, caller: ManagementCaller, team_id: string, environments: string[] = []) {
  const team = await shown(app, await requireTeam(app, caller, team_id))
  if (!environments.length) return team
  return {
    ...team,
    sandbox: environments.includes('sandbox') ? team.sandbox : null,
    production: environments.includes('production') ? team.production : null,
  }
}

export async function resolveTeam(app: App, caller: ManagementCaller, integration_team_id: string) {
  return shown(
    app,
    await requireTeam(app, caller, (await store.findByIntegrationId(app.db, caller.org_id, integration_team_id))?.id ?? randomUUID()),
  )
}

type SettingsIn = rules.ContactIn & Parameters<typeof rules.switchesFrom>[0]
type NewTeam = SettingsIn & {
  id?: string | null | undefined
  name: string
  region: string
  integration_team_id?: string | null | undefined
}

export function createTeam(app: App, caller: ManagementCaller, input: NewTeam) {
  rules.checkDeployment(here(app), { region: input.region })
  return refuseDuplicates(app, caller, input.integration_team_id, () =>
    inTransaction(app, async (app) => shown(app, await insertTeam(app, caller.org_id, input))),
  )
}

/** Makes the team, its sealing key and its settings. */
export async function insertTeam(app: App, org_id: string, input: NewTeam) {
  const { name, region, integration_team_id = null } = input
  const id = input.id?.toLowerCase() ?? randomUUID()
  if (await store.wasErased(app.db, id)) throw idTaken()
  await store.insertTeam(app.db, { id, org_id, name, region, integration_team_id, created_on: app.wall(), ...rules.switchesFrom(input) })
  await store.insertTeamKey(app.db, { team_id: id, ...newTeamKey(app.vault) })
  await store.updateTeam(app.db, org_id, id, { contact: await sealContact(app, id, rules.mergeContact(rules.noContact, input)) })
  const team = await store.findTeam(app.db, org_id, id)
  return team as NonNullable<typeof team>
}

type TeamPatch = {
  name?: string | null | undefined
  integration_team_id?: string | null | undefined
  sandbox?: SettingsIn | null | undefined
  production?: SettingsIn | null | undefined
}

export const patchTeam = (app: App, caller: ManagementCaller, team_id: string, patch: TeamPatch) =>
  refuseDuplicates(app, caller, patch.integration_team_id, () =>
    inTransaction(app, async (app) => {
      const team = await requireTeam(app, caller, team_id, store.lockTeam)
      for (const environment of ['sandbox', 'production'] as const)
        if (patch[environment]) rules.checkDeployment(here(app), { environment })
      const settings = patch[app.config.ENVIRONMENT] ?? {}
      const change = {
        name: patch.name ?? team.name,
        integration_team_id: patch.integration_team_id === undefined ? team.integration_team_id : patch.integration_team_id,
        contact: await sealContact(app, team.id, rules.mergeContact(await contactOf(app, team), settings)),
        ...rules.switchesFrom(settings),
      }
      await store.updateTeam(app.db, caller.org_id, team.id, change)
      return shown(app, { ...team, ...change })
    }),
  )

/** The keys stop at once, because a key looks at its team; the rows follow after the days of grace. */
export const deleteTeam = (app: App, caller: ManagementCaller, team_id: string) =>
  inTransaction(app, async (app) => {
    const team = await requireTeam(app, caller, team_id, store.lockTeam)
    const now = later(app.wall(), team.clock_offset_ms)
    await store.updateTeam(app.db, caller.org_id, team.id, { deleted_at: now, erase_at: later(now, rules.GRACE_DAYS * DAY) })
    return { success: true }
  })

/** Erases one deleted team whose grace has ended; answers whether there was one. */
export const eraseNextTeam = (app: App) =>
  inTransaction(app, async (app) => {
    const team = await store.lockTeamToErase(app.db, app.wall())
    if (!team) return false
    const { id: team_id, org_id } = team
    await store.insertErased(app.db, team_id, app.wall())
    await store.deleteTeamRows(app.db, team_id)
    await recordChange(
      app,
      auditRow(app, { kind: 'job', org_id, team_id }, { action: 'eraseTeam', subject: `team_id:${team_id}`, status: 200 }),
    )
    return true
  })

const here = ({ config }: App) => ({ environment: config.ENVIRONMENT, region: config.REGION })

type TeamRow = NonNullable<Awaited<ReturnType<typeof store.findTeam>>>

async function shown(app: App, team: TeamRow) {
  const settings = { ...team, ...(await contactOf(app, team)) }
  const { ENVIRONMENT } = app.config
  return {
    ...team,
    environments: [ENVIRONMENT],
    sandbox: ENVIRONMENT === 'sandbox' ? settings : null,
    production: ENVIRONMENT === 'production' ? settings : null,
  }
}

const place = (team_id: string) => `teams.contact.${team_id}`

const sealContact = async (app: App, team_id: string, contact: rules.Contact) => seal(await teamKey(app, team_id), place(team_id), contact)

async function contactOf(app: App, team: TeamRow): Promise<rules.Contact> {
  return team.contact ? open<rules.Contact>(await teamKey(app, team.id), place(team.id), team.contact) : rules.noContact
}

const idTaken = () => problem('TEAM_ID_TAKEN', 'A team has or had this id; leave id out to have one made.')

const UNIQUE_VIOLATION = '23505'

/** The unique index decides, also between two requests of the same moment; the answer names the team that holds the id, to whom may know it. */
async function refuseDuplicates<T>(
  app: App,
  caller: ManagementCaller,
  integration_team_id: string | null | undefined,
  write: () => Promise<T>,
) {
  try {
    return await write()
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    const holder = integration_team_id ? await store.findByIntegrationId(app.db, caller.org_id, integration_team_id) : undefined
    if (!holder) throw idTaken()
    const detail = {
      error_type: 'INTEGRATION_TEAM_ID_TAKEN',
      error_message: 'Another team has this integration_team_id; choose another one.',
    }
    throw new Problem('conflict', detail, isReachable(caller, holder.id) ? { team_id: holder.id } : {})
  }
}
