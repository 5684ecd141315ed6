import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { LabCaller, ManagementCaller, TeamCaller } from '../../platform/callers.ts'
import { deploymentName } from '../../platform/config.ts'
import { Problem, problem } from '../../platform/problem.ts'
import { recordUse } from './last-use.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export async function authenticateTeamKey(app: App, secret: string): Promise<TeamCaller> {
  if (rules.isManagementKey(secret))
    throw problem(
      'MANAGEMENT_KEY_NOT_ALLOWED',
      'This endpoint needs a team API key in x-service-api-key, not a management key. Create a team API key with the management API.',
    )
  if (rules.isLabKey(secret))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This endpoint needs a team API key in x-service-api-key. A lab key works only on endpoints under /lab.',
    )
  checkDeployment(app, rules.deploymentOfKey(secret))
  const hash = rules.hashSecret(secret)
  const name = hash.toString('base64')
  const key = await findTeamKey(app, hash)
  try {
    const caller = teamCallerOf(app, key)
    remember(callers(app), name, caller)
    return caller
  } catch (error) {
    callers(app).delete(name)
    throw error
  }
}

const MAX_REMEMBERED_KEYS = 50_000

function remember<T>(cache: Map<string, T>, name: string, value: T) {
  cache.set(name, value)
  if (cache.size > MAX_REMEMBERED_KEYS) cache.delete(cache.keys().next().value as string)
}

/** The caller of each key by its hash, when it was last checked. */
const callers = declareCache(() => new Map<string, TeamCaller>())

/** Whom a key identified when it was last checked, which may have changed since. */
export const lastCallerOf = (app: App, secret: string) => callers(app).get(rules.hashSecret(secret).toString('base64'))

/** The owner of each key by its hash. It never changes, so a request reads only the key itself. */
const keyOwners = declareCache(() => new Map<string, store.KeyOwner>())

async function findTeamKey(app: App, hash: Buffer) {
  const owners = keyOwners(app)
  const name = hash.toString('base64')
  const remembered = owners.get(name)
  const key = remembered && (await store.findTeamKey(app.db, remembered))
  if (key) return key
  owners.delete(name)
  const owner = await store.findKeyOwner(app.db, hash)
  if (!owner) return undefined
  remember(owners, name, owner)
  return store.findTeamKey(app.db, owner)
}

/** Loads the caller of a console session that was started with a team API key. */
export const loadTeamKeyCaller = async (app: App, owner: store.KeyOwner) => teamCallerOf(app, await store.findTeamKey(app.db, owner))

function teamCallerOf(app: App, key: Awaited<ReturnType<typeof store.findTeamKey>>): TeamCaller {
  if (!key || key.revoked_at || key.deleted_at)
    throw problem('INVALID_API_KEY', 'The team API key is unknown or revoked. Check the value you send in x-service-api-key.')
  if (key.expires_at && key.expires_at <= app.wall())
    throw problem('API_KEY_EXPIRED', 'The team API key has expired. Create a new one with the management API.')
  recordUse(app, 'team_api_keys', key)
  const { org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms, team_rate_limit, key_rate_limit } = key
  const rate_limits = rules.rateLimitsOf(team_rate_limit, key_rate_limit)
  return { kind: 'team', org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms, rate_limits }
}

export async function authenticateAccessToken(app: App, secret: string): Promise<TeamCaller> {
  const team = rules.teamOfSecret(secret)
  const token = team && (await store.findAccessToken(app.db, team, rules.hashSecret(secret), app.wall()))
  if (!token || token.deleted_at || token.expires_at <= app.wall())
    throw problem(
      'INVALID_ACCESS_TOKEN',
      'The access token is unknown or expired. Tokens are valid for 10 minutes; create a new one with the management API.',
    )
  const { org_id, team_id, key_id, plan, betas, clock_offset_ms, team_rate_limit } = token
  const rate_limits = rules.rateLimitsOf(team_rate_limit)
  return { kind: 'team', token: true, org_id, team_id, key_id, read_only: false, plan, betas, clock_offset_ms, rate_limits }
}

export async function authenticateManagementKey(app: App, secret: string): Promise<ManagementCaller & { key_id: string }> {
  if (rules.deploymentOfKey(secret))
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This endpoint needs a management key in X-Management-Key, not a team API key.')
  if (rules.isLabKey(secret))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This endpoint needs a management key in X-Management-Key. A lab key works only on endpoints under /lab.',
    )
  return managementCallerOf(app, await store.findManagementKey(app.db, rules.hashSecret(secret)))
}

/** Loads the caller of a console session that was started with a management key. */
export const loadManagementKeyCaller = async (app: App, id: string) =>
  managementCallerOf(app, await store.findManagementKeyById(app.db, id))

function managementCallerOf(app: App, key: Awaited<ReturnType<typeof store.findManagementKey>>): ManagementCaller & { key_id: string } {
  if (!key || key.revoked_at || (key.expires_at && key.expires_at <= app.wall()))
    throw problem(
      'INVALID_MANAGEMENT_KEY',
      'The management key is unknown, revoked or replaced. Check the value you send in X-Management-Key.',
    )
  recordUse(app, 'management_keys', key)
  const { org_id, key_id, plan, role, team_ids } = key
  return { kind: 'management', org_id, key_id, plan, team_ids: role === 'team_admin' ? team_ids : undefined }
}

export async function authenticateLabKey(app: App, secret: string): Promise<LabCaller> {
  if (rules.isManagementKey(secret))
    throw problem('MANAGEMENT_KEY_NOT_ALLOWED', 'This endpoint needs a lab key in x-lab-key, not a management key.')
  if (rules.deploymentOfKey(secret))
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This endpoint needs a lab key in x-lab-key, not a team API key.')
  checkDeployment(app, rules.deploymentOfLabKey(secret))
  const key = await store.findLabKey(app.db, rules.hashSecret(secret))
  if (!key || key.revoked_at)
    throw problem(
      'INVALID_LAB_KEY',
      'The lab key is unknown or revoked. Check the value you send in x-lab-key, or ask the operator for a new key.',
    )
  recordUse(app, 'lab_keys', key)
  return { kind: 'lab', lab_id: key.lab_id, key_id: key.key_id }
}

function checkDeployment({ config }: App, keyDeployment: string | undefined) {
  if (keyDeployment && keyDeployment !== deploymentName(config))
    throw problem(
      'WRONG_DEPLOYMENT_KEY',
      `This key belongs to the ${keyDeployment} deployment, but this is ${deploymentName(config)}. Call that deployment, or use a key for this one.`,
    )
}

type MaybeKeys = { team_api_key?: string | undefined; management_key?: string | undefined }

/** Keeps the keys that this deployment still accepts. */
export async function filterWorkingKeys(app: App, { team_api_key, management_key }: MaybeKeys) {
  return {
    ...(team_api_key && (await isAccepted(authenticateTeamKey(app, team_api_key))) ? { team_api_key } : {}),
    ...(management_key && (await isAccepted(authenticateManagementKey(app, management_key))) ? { management_key } : {}),
  }
}

const isAccepted = (caller: Promise<unknown>) =>
  caller.then(
    () => true,
    (error) => {
      if (error instanceof Problem) return false
      throw error
    },
  )
