import type { App } from '../../platform/app.ts'
import type { LabCaller, ManagementCaller, TeamCaller } from '../../platform/callers.ts'
import { deploymentName } from '../../platform/config.ts'
import { Problem, problem } from '../../platform/problem.ts'
import { type KeyCaller, knownCallers } from './known-callers.ts'
import { recordUse } from './last-use.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type Options = {
  /** Accepts what the process read within the last second. Not for a request that grants access. */
  mayBeKnown?: boolean
}

export async function authenticateTeamKey(app: App, secret: string, { mayBeKnown = false }: Options = {}): Promise<TeamCaller> {
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
  const find = async (known?: TeamCaller) => keyCallerOf(await findTeamKey(app, hash, known))
  return useKey(app, await (mayBeKnown ? knownCallers(app).get(hash.toString('base64'), app.monotonic(), find) : find()))
}

/** A key that was deleted and created again has another owner. */
async function findTeamKey(app: App, hash: Buffer, known: store.KeyOwner | undefined) {
  const key = known && (await store.findTeamKey(app.db, known))
  if (key) return key
  const owner = await store.findKeyOwner(app.db, hash)
  return owner && store.findTeamKey(app.db, owner)
}

/** Loads the caller of a console session that was started with a team API key. */
export const loadTeamKeyCaller = async (app: App, owner: store.KeyOwner) => useKey(app, keyCallerOf(await store.findTeamKey(app.db, owner)))

function keyCallerOf(key: Awaited<ReturnType<typeof store.findTeamKey>>): KeyCaller {
  if (!key || key.revoked_at || key.deleted_at)
    throw problem('INVALID_API_KEY', 'The team API key is unknown or revoked. Check the value you send in x-service-api-key.')
  const { org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms, team_rate_limit, key_rate_limit } = key
  const rate_limits = rules.rateLimitsOf(team_rate_limit, key_rate_limit)
  const caller = { kind: 'team' as const, org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms, rate_limits }
  return { caller, expires_at: key.expires_at, last_used_at: key.last_used_at }
}

function useKey(app: App, { caller, expires_at, last_used_at }: KeyCaller): TeamCaller {
  if (expires_at && expires_at <= app.wall())
    throw problem('API_KEY_EXPIRED', 'The team API key has expired. Create a new one with the management API.')
  recordUse(app, 'team_api_keys', { ...caller, last_used_at })
  return caller
}

/** The caller of a request that was signed with the secret of a webhook. Undefined if its team is deleted. */
export async function loadWebhookCaller(app: App, team_id: string, webhook_id: string): Promise<TeamCaller | undefined> {
  const team = await store.findTeamOfCaller(app.db, team_id)
  if (!team || team.deleted_at) return undefined
  const { org_id, plan, betas, clock_offset_ms, team_rate_limit } = team
  const rate_limits = rules.rateLimitsOf(team_rate_limit)
  return { kind: 'team', webhook_id, key_id: webhook_id, org_id, team_id, read_only: true, plan, betas, clock_offset_ms, rate_limits }
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
