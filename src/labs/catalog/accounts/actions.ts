import { randomUUID } from 'node:crypto'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { visibleTeams } from '../../../tenants/teams/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type Filter = { lab_account_id?: string | null | undefined; team_id?: string | null | undefined; status?: string | null | undefined }

/** Gap 63: an organization's own accounts; a Team Management Key sees the accounts that are open to its teams. */
export async function listOrgLabAccounts(app: App, caller: ManagementCaller, { team_id, ...filter }: Filter) {
  const visible = { ...filter, open_to: visibleTeams(caller, team_id), visible_team_ids: caller.team_ids }
  return { data: await store.listAccounts(app.db, caller.org_id, visible) }
}

/** Opens an account to these teams and closes it to all others. */
export const patchLabAccount = (app: App, { org_id }: ManagementCaller, id: string, team_ids: string[]) =>
  inTransaction(app, async (app) => {
    rules.requireAccount(await store.lockAccount(app.db, org_id, id))
    await bindTeams(app, org_id, id, team_ids)
    return { lab_account: rules.requireAccount(await store.findAccount(app.db, org_id, id)) }
  })

type NewLabAccount = {
  org_id: string
  lab: rules.Lab & { id: number }
  provider_account_id: string
  account_name?: string | undefined
  default_clinical_notes?: string | undefined
  status: string
  delegated_flow: string
  billing: Record<string, string[]>
  team_ids: string[]
}

/** Only the operator creates accounts; the API opens them to teams. */
export const createLabAccount = (app: App, { lab, billing, team_ids, ...account }: NewLabAccount) =>
  inTransaction(app, async (app) => {
    const { org_id } = account
    const id = randomUUID()
    const allowed_billing = JSON.stringify(rules.allowedBilling(lab, billing))
    await store.insertAccount(app.db, { ...account, id, lab_id: lab.id, allowed_billing, created_at: app.wall() })
    await bindTeams(app, org_id, id, team_ids)
    return rules.requireAccount(await store.findAccount(app.db, org_id, id))
  })

/** Writes the platform's accounts, one per lab, in the caller's transaction. */
export const putPlatformAccounts = (app: AppInTransaction, rows: store.PlatformAccount[]) => store.upsertPlatformAccounts(app.db, rows)

/** The team that alone holds the account with this number. The platform's own account is open to every team. */
export async function findSoleHolder(app: App, lab_id: number, number: string | null): Promise<string | undefined> {
  const accounts = number ? await store.listByNumber(app.db, lab_id, number) : []
  const teams = new Set(accounts.flatMap(({ team_id_allowlist }) => team_id_allowlist))
  return accounts.every(({ org_id }) => org_id) && teams.size === 1 ? [...teams][0] : undefined
}

/** The teams that share the account with this number. */
export async function listHolders(app: App, lab_id: number, number: string | null): Promise<string[]> {
  const accounts = number ? await store.listByNumber(app.db, lab_id, number) : []
  return [...new Set(accounts.flatMap(({ team_id_allowlist }) => team_id_allowlist))]
}

export const listAllLabAccounts = (app: App) => store.listAllAccounts(app.db)

/** Undefined if the account does not exist. */
export const setLabAccountStatus = (app: App, id: string, status: string) =>
  inTransaction(app, (app) => store.setStatus(app.db, id, status))

async function bindTeams(app: App, org_id: string, id: string, team_ids: string[]) {
  const uniqueIds = [...new Set(team_ids)]
  rules.checkTeamsBound(await store.bindTeams(app.db, org_id, id, uniqueIds), uniqueIds.length)
}
