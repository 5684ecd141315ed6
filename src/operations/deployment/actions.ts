import type { Plan } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { type Config, deploymentOf, teamKeyPrefix } from '../../platform/config.ts'
import { beat } from '../../platform/db/connections/replica.ts'
import { allocateSpace } from '../../platform/db/connections/space.ts'
import { isConnectionLost, isDiskFull } from '../../platform/db/errors.ts'
import type { Db } from '../../platform/db/open.ts'
import { setupProblem } from '../../platform/problem.ts'
import { checkValue, firstRoot, loadRoots, newFirstRoot, saveFirstRoot } from '../../platform/sealing/roots.ts'
import { keyEncryptionOf } from '../../platform/sealing/settings.ts'
import { newVault, type Vault } from '../../platform/sealing/vault.ts'
import { openChain } from '../../tenants/audit/actions.ts'
import { ensureManagementKey, ensureTeamKey } from '../../tenants/keys/actions.ts'
import { MANAGEMENT_PREFIX, newSecret } from '../../tenants/keys/rules.ts'
import { insertTeam } from '../../tenants/teams/actions.ts'
import { createOrg, findFirstOrgAndTeam } from '../../tenants/teams/orgs.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/**
 * Claims an empty database for this deployment, or rejects one that belongs to another deployment or key. Opens the vault.
 * `allowEmpty`: the operator is about to create the first organization.
 */
export async function claimDatabase(app: App, allowEmpty: boolean): Promise<void> {
  const stored = await store.findDeployment(app.db)
  if (stored) rules.checkDeployment(stored, deploymentOf(app.config))
  // The root is decrypted and encrypted before the transaction, because a key management service may do it.
  const hasRoot = await loadRoots(app.db, app.vault)
  const first = hasRoot ? undefined : await newFirstRoot(app.vault.keyEncryption)
  const isClaimed = await inTransaction(app, async (app) => {
    await store.lockStart(app.db)
    if (first && !(await saveFirstRoot(app.db, app.vault, first))) return false
    const ours = identityOf(app)
    const stored = await store.findDeployment(app.db)
    if (stored) rules.checkDatabase(stored, ours)
    if (!allowEmpty && !rules.mayCreateKeys(app.config) && !(await findFirstOrgAndTeam(app))) throw rules.emptyInProduction()
    if (stored) return true
    await store.insertDeployment(app.db, ours)
    await openChain(app)
    return true
  })
  // Another process created the root meanwhile.
  if (!isClaimed) await claimDatabase(app, allowEmpty)
}

/** The deployment and a check value of its key. A database and its backups belong to one of each. */
export const identityOf = ({ config, vault }: Pick<App, 'config' | 'vault'>) => ({
  ...deploymentOf(config),
  key_check: checkValue(firstRoot(vault)),
})

/** Opens the vault of a claimed database, without writing. */
export async function openVault(config: Config, db: Db): Promise<Vault> {
  const vault = newVault(keyEncryptionOf(config, true))
  if (!(await loadRoots(db, vault))) vault.roots = [(await newFirstRoot(vault.keyEncryption)).root]
  return vault
}

/** The deployment and key a database belongs to, or undefined if it is unclaimed. */
export const findDeployment = (db: Db) => store.findDeployment(db)

/** Whether the database contains more than the migrations create. */
export const hasData = (db: Db) => store.hasData(db)

export const isClaimed = async (db: Db) => (await store.findDeployment(db)) !== undefined

/** Whether the database responds and accepts writes. With a full disk, or as a standby, it only responds. */
export async function databaseState(app: App): Promise<'up' | 'down' | 'full' | 'no_writes'> {
  try {
    await store.ping(app.db)
  } catch {
    return 'down'
  }
  return hasRoom(app).then(
    (room) => (room ? 'up' : 'full'),
    (error) => (isConnectionLost(error) ? 'down' : isDiskFull(error) ? 'full' : 'no_writes'),
  )
}

/** On a full disk, the heartbeat can still fit into its page. So writes that failed count too. */
async function hasRoom({ db, wall }: App) {
  const { space } = db
  if (!space) return beat(db)
  await space.unnoted(() => beat(db))
  return space.hasSpace(Date.parse(wall()), () => allocateSpace(db))
}

export type Keys = { org_id: string; team_id: string; team_api_key: string; management_key: string }
type PresetKeys = { team_api_key?: string | undefined; management_key?: string | undefined }
type FirstStart = { org: string; team: string; plan: Plan }

/**
 * The first organization and team with working keys: created on an empty database, found afterwards.
 * `preset` are keys that the operator set or an earlier start stored. Missing ones are created.
 */
export const provideKeys = (app: App, preset: PresetKeys, names: FirstStart): Promise<Keys> =>
  inTransaction(app, async (app) => {
    await store.lockStart(app.db)
    const region = app.config.REGION
    const { org, ...found } = (await findFirstOrgAndTeam(app)) ?? (await createOrg(app, { ...names, region }))
    const team = found.team ?? (await insertTeam(app, org.id, { name: names.team, region }))
    const team_api_key = preset.team_api_key ?? newSecret(teamKeyPrefix(app.config))
    const management_key = preset.management_key ?? newSecret(MANAGEMENT_PREFIX)
    await ensureTeamKey(app, team_api_key, { label: 'first start', team_id: team.id })
    await ensureManagementKey(app, management_key, { label: 'first start', org_id: org.id })
    return { org_id: org.id, team_id: team.id, team_api_key, management_key }
  })

/** Creates the first keys of an empty database. A database with an organization is left unchanged. */
export const bootstrap = (app: App, preset: PresetKeys, names: FirstStart) =>
  inTransaction(app, async (app) => {
    await store.lockStart(app.db)
    if (await findFirstOrgAndTeam(app))
      throw setupProblem('The database already has an organization; create more keys with: assay keys create')
    return provideKeys(app, preset, names)
  })
