import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { environments } from '../../contract/common.ts'
import { featureSettings, type TeamPatch } from '../../contract/tenants/management.ts'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { deploymentOf } from '../../platform/config.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { insertSealingKey } from '../../platform/sealing/store.ts'
import { newSealingKey, teamSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { DEPLOYMENT_CHAIN } from '../audit/rules.ts'
import { checkRateChange } from '../rates/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type ListQuery = {
  team_id?: string | null | undefined
  region?: string[] | null | undefined
  search_query?: string | null | undefined
  next_cursor?: string | null | undefined
}

export async function listTeams(app: App, caller: ManagementCaller, query: ListQuery) {
  const page = pageAfter(query.next_cursor)
  const found = await store.listTeams(app.db, caller.org_id, { ...query, team_ids: rules.visibleTeams(caller, query.team_id) }, page)
  const { rows, next_cursor } = pageOf(found, page, (team) => ({ at: team.created_on, id: team.id }))
  return { teams: rows, next_cursor }
}

export async function getTeam(app: App, caller: ManagementCaller, team_id: string, environmentFilter: string[] = []) {
  const team = await presentTeam(app, await requireTeam(app, caller, team_id))
  if (!environmentFilter.length) return team
  return {
    ...team,
    sandbox: environmentFilter.includes('sandbox') ? team.sandbox : null,
    production: environmentFilter.includes('production') ? team.production : null,
  }
}

export async function resolveTeam(app: App, caller: ManagementCaller, integration_team_id: string) {
  return presentTeam(app, rules.requireReachable(caller, await store.findByIntegrationId(app.db, caller.org_id, integration_team_id)))
}

type SettingsInput = rules.ContactInput & Parameters<typeof rules.featureSettingsFrom>[0]
type NewTeam = SettingsInput & {
  id?: string | null | undefined
  name: string
  region: string
  integration_team_id?: string | null | undefined
  rate_limit?: RateLimit | null | undefined
}

const jsonOf = (rate_limit: RateLimit | null | undefined) => (rate_limit ? JSON.stringify(rate_limit) : null)

export function createTeam(app: App, caller: ManagementCaller, input: NewTeam) {
  rules.checkNamedDeployment(deploymentOf(app.config), { region: input.region })
  return rejectDuplicates(app, caller, input.integration_team_id, () =>
    inTransaction(app, async (app) => presentTeam(app, await insertTeam(app, caller.org_id, input))),
  )
}

/** Inserts the team with its encryption key and settings. Its ID also names its audit chain, so it must be new. */
export async function insertTeam(app: App, org_id: string, input: NewTeam) {
  const { name, region, integration_team_id = null } = input
  const id = input.id ?? randomUUID()
  const { key, row } = newSealingKey(app.vault.root, { team_id: id })
  const contact = seal(key, associatedData(id), rules.mergeContact(rules.noContact, input))
  const settings = { ...featureSettings, ...rules.featureSettingsFrom(input), contact, rate_limit: jsonOf(input.rate_limit) }
  const team = await store.insertTeam(app.db, { id, org_id, name, region, integration_team_id, created_on: app.wall(), ...settings })
  // Checked after the insert, which waits for a concurrent erasure of a team with this ID.
  if (id === DEPLOYMENT_CHAIN || (await store.isIdTaken(app.db, id))) throw idTaken()
  await insertSealingKey(app.db, { ...row, team_id: id })
  return team
}

type Transact = <T>(app: App, change: (app: AppInTransaction) => Promise<T>) => Promise<T>

/** Changes a team inside `transact`, which opens the transaction. */
export const patchTeam = (app: App, caller: ManagementCaller, team_id: string, patch: z.output<typeof TeamPatch>, transact: Transact) =>
  rejectDuplicates(app, caller, patch.integration_team_id, () =>
    transact(app, async (app) => {
      const team = await requireTeam(app, caller, team_id, store.lockTeam)
      for (const environment of environments) if (patch[environment]) rules.checkNamedDeployment(deploymentOf(app.config), { environment })
      const settings = patch[app.config.ENVIRONMENT] ?? {}
      const change = {
        name: patch.name ?? team.name,
        integration_team_id: patch.integration_team_id === undefined ? team.integration_team_id : patch.integration_team_id,
        contact: seal(
          await teamSealingKey(app, team.id),
          associatedData(team.id),
          rules.mergeContact(await decryptContact(app, team), settings),
        ),
        ...rules.featureSettingsFrom(settings),
        ...rules.orderSettingsFrom(settings, app.config.ENVIRONMENT),
      }
      checkRateChange(caller, team.rate_limit, patch.rate_limit)
      const rate_limit = patch.rate_limit === undefined ? team.rate_limit : patch.rate_limit
      await store.updateTeam(app.db, caller.org_id, team.id, { ...change, rate_limit: jsonOf(rate_limit) })
      app.wake('caller changed', team.id)
      return presentTeam(app, { ...team, ...change, rate_limit })
    }),
  )

/** The team's API keys stop working; its rows are erased after the grace period. */
export const deleteTeam = (app: App, caller: ManagementCaller, team_id: string) =>
  inTransaction(app, async (app) => {
    const team = await requireTeam(app, caller, team_id, store.lockTeam)
    const now = later(app.wall(), team.clock_offset_ms)
    await store.updateTeam(app.db, caller.org_id, team.id, { deleted_at: now, erase_at: later(now, rules.GRACE_DAYS * DAY) })
    app.wake('caller changed', team.id)
    return { success: true }
  })

const MAX_CONSOLE_TEAMS = 500

/** The teams a console user can choose from. */
export const listConsoleTeams = (app: App, { org_id, team_ids }: TeamScope) =>
  store.listTeamNames(app.db, org_id, team_ids, MAX_CONSOLE_TEAMS)

/** The IDs of the organization's teams, or of those in scope, including deleted teams. */
/** The teams of the deployment, also those that are scheduled for deletion. */
export const listEveryTeam = (app: App) => store.listEveryTeam(app.db)

export const listTeamIds = async (app: App, { org_id, team_ids }: TeamScope) =>
  (await store.listTeamIds(app.db, org_id, team_ids)).map(({ id }) => id)

/** The IDs of teams that no longer exist. */
export const listErasedTeamIds = async (app: App, org_id: string) => (await store.listErasedTeams(app.db, org_id)).map(({ id }) => id)

/** The live teams that an audit chain concerns: its team, or all of its organization. The deployment's chain concerns none of them. */
export const listTeamsOfChain = async (app: App, chain_id: string) => (await store.listTeamsOfChain(app.db, chain_id)).map(({ id }) => id)

/** Lists every live team of the deployment for the operator. */
export const listAllTeams = (app: App) => store.listAllTeams(app.db)

/** Enables exactly these closed betas for a team. */
export const setBetas = (app: App, team_id: string, betas: string[]) =>
  inTransaction(app, (app) => {
    app.wake('caller changed', team_id)
    return store.setBetas(app.db, team_id, betas)
  })

/** Sets the fixed request rate of a team, for the operator. */
export const setRateLimit = (app: App, team_id: string, rate_limit: RateLimit | null) =>
  inTransaction(app, (app) => {
    app.wake('caller changed', team_id)
    return store.setRateLimit(app.db, team_id, jsonOf(rate_limit))
  })

/** Erases one deleted team whose grace period has ended, except for its log. Returns its ID, or undefined if there is none. */
export async function eraseDeletedTeam(app: AppInTransaction) {
  const team = await store.lockTeamToErase(app.db, app.wall())
  if (!team) return undefined
  const { id: team_id, org_id } = team
  await store.insertErasedTeam(app.db, { id: team_id, org_id, erased_at: app.wall() })
  await store.deleteTeamRows(app.db, team_id)
  app.wake('caller changed', team_id)
  await recordChange(
    app,
    auditRow(app, { kind: 'job', org_id, team_id }, { action: 'eraseTeam', subject: `team_id:${team_id}`, status: 200 }),
  )
  return team_id
}

type TeamScope = Pick<ManagementCaller, 'org_id' | 'team_ids'>

export async function requireTeam(app: App, caller: TeamScope, team_id: string, find = store.findTeam) {
  return rules.requireReachable(caller, await find(app.db, caller.org_id, team_id))
}

/** A team, also one that is being deleted, with its decrypted contacts. */
export async function loadContact(app: App, team_id: string) {
  const team = await store.getTeam(app.db, team_id)
  return { team, contact: await decryptContact(app, team) }
}

/** A team of any organization. */
export const findLiveTeam = ({ db }: App, team_id: string) => store.findLiveTeam(db, team_id)

type TeamRow = NonNullable<Awaited<ReturnType<typeof store.findTeam>>>

async function presentTeam(app: App, team: TeamRow) {
  const settings = { ...rules.noContact, ...team, ...(await decryptContact(app, team)) }
  const { ENVIRONMENT } = app.config
  return {
    ...team,
    environments: [ENVIRONMENT],
    sandbox: ENVIRONMENT === 'sandbox' ? settings : null,
    production: ENVIRONMENT === 'production' ? settings : null,
  }
}

const associatedData = (team_id: string) => `teams.contact.${team_id}`

const decryptContact = async (app: App, team: TeamRow) =>
  open<rules.Contact>(await teamSealingKey(app, team.id), associatedData(team.id), team.contact)

const idTaken = () => problem('TEAM_ID_TAKEN', 'Another team has or had this ID. Omit id to get a new one.')

/** The unique index also catches concurrent requests. The error names the conflicting team only to callers with access to it. */
async function rejectDuplicates<T>(
  app: App,
  caller: ManagementCaller,
  integration_team_id: string | null | undefined,
  write: () => Promise<T>,
) {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const holder = integration_team_id ? await store.findByIntegrationId(app.db, caller.org_id, integration_team_id) : undefined
    if (!holder) throw idTaken()
    const conflict = rules.isReachable(caller, holder.id) ? { team_id: holder.id } : {}
    throw problem('INTEGRATION_TEAM_ID_TAKEN', 'Another team has this integration_team_id. Choose another one.', {}, conflict)
  }
}
