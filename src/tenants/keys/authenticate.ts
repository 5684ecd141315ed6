import type { App } from '../../platform/app.ts'
import type { LabCaller, ManagementCaller, TeamCaller } from '../../platform/callers.ts'
import { deploymentName } from '../../platform/config.ts'
import { Problem, problem } from '../../platform/problem.ts'
import { noteUse } from './last-use.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Who a team API key stands for. */
export async function teamKeyCaller(app: App, secret: string): Promise<TeamCaller> {
  if (rules.isManagementKey(secret))
    throw problem(
      'MANAGEMENT_KEY_NOT_ALLOWED',
      'This route takes a team API key; a management key cannot be used as one. Create a team API key with the management API.',
    )
  if (rules.isLabKey(secret))
    throw problem('LAB_KEY_NOT_ALLOWED', 'This route takes a team API key; a lab key opens the routes under /lab only.')
  checkDeployment(app, rules.deploymentOfKey(secret))
  return teamCallerOf(app, await store.findTeamKey(app.db, rules.hashOf(secret)))
}

/** Who a team API key stands for that a console session was begun with. */
export const teamKeyHolder = async (app: App, id: string) => teamCallerOf(app, await store.findTeamKeyById(app.db, id))

function teamCallerOf(app: App, key: Awaited<ReturnType<typeof store.findTeamKey>>): TeamCaller {
  if (!key || key.revoked_at || key.deleted_at)
    throw problem('INVALID_API_KEY', 'The team API key is unknown or was revoked. Check the value sent in x-service-api-key.')
  if (key.expires_at && key.expires_at <= app.wall())
    throw problem('API_KEY_EXPIRED', 'The team API key has expired. Create a new one with the management API.')
  noteUse(app, 'team_api_keys', key.key_id, key.last_used_at)
  const { org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms } = key
  return { kind: 'team', org_id, team_id, key_id, read_only, plan, betas, clock_offset_ms }
}

/** Who a team access token stands for. */
export async function tokenCaller(app: App, secret: string): Promise<TeamCaller> {
  const token = await store.findAccessToken(app.db, rules.hashOf(secret))
  if (!token || token.revoked_at || token.deleted_at || token.expires_at <= app.wall())
    throw problem(
      'INVALID_ACCESS_TOKEN',
      'The access token is unknown or has expired; tokens are good for 10 minutes. Mint a new one with the management API.',
    )
  const { org_id, team_id, key_id, plan, betas, clock_offset_ms } = token
  return { kind: 'team', token: true, org_id, team_id, key_id, read_only: false, plan, betas, clock_offset_ms }
}

/** Who a management key stands for. */
export async function managementCaller(app: App, secret: string): Promise<ManagementCaller & { key_id: string }> {
  if (rules.deploymentOfKey(secret))
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This route takes a management key in X-Management-Key; a team API key cannot be used here.')
  if (rules.isLabKey(secret))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This route takes a management key in X-Management-Key; a lab key opens the routes under /lab only.',
    )
  return managementCallerOf(app, await store.findManagementKey(app.db, rules.hashOf(secret)))
}

/** Who a management key stands for that a console session was begun with. */
export const managementKeyHolder = async (app: App, id: string) => managementCallerOf(app, await store.findManagementKeyById(app.db, id))

function managementCallerOf(app: App, key: Awaited<ReturnType<typeof store.findManagementKey>>): ManagementCaller & { key_id: string } {
  if (!key || key.revoked_at)
    throw problem('INVALID_MANAGEMENT_KEY', 'The management key is unknown or was revoked. Check the value sent in X-Management-Key.')
  noteUse(app, 'management_keys', key.key_id, key.last_used_at)
  const { org_id, key_id, plan, role, team_ids } = key
  return { kind: 'management', org_id, key_id, plan, team_ids: role === 'team_admin' ? team_ids : undefined }
}

/** Who a lab key stands for. */
export async function labCaller(app: App, secret: string): Promise<LabCaller> {
  if (rules.isManagementKey(secret))
    throw problem('MANAGEMENT_KEY_NOT_ALLOWED', 'This route takes a lab key in x-lab-key; a management key cannot be used as one.')
  if (rules.deploymentOfKey(secret))
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This route takes a lab key in x-lab-key; a team API key cannot be used as one.')
  checkDeployment(app, rules.deploymentOfLabKey(secret))
  const key = await store.findLabKey(app.db, rules.hashOf(secret))
  if (!key || key.revoked_at)
    throw problem(
      'INVALID_LAB_KEY',
      'The lab key is unknown or was revoked. Check the value sent in x-lab-key, or ask the operator for a new one.',
    )
  noteUse(app, 'lab_keys', key.key_id, key.last_used_at)
  return { kind: 'lab', lab_id: key.lab_id, key_id: key.key_id }
}

function checkDeployment({ config }: App, named: string | undefined) {
  if (named && named !== deploymentName(config))
    throw problem(
      'WRONG_DEPLOYMENT_KEY',
      `This key belongs to the ${named} deployment; this is ${deploymentName(config)}. Call the other deployment or use a key of this one.`,
    )
}

type MaybeKeys = { team_api_key?: string | undefined; management_key?: string | undefined }

/** Those of the keys that still open this deployment. */
export async function workingKeys(app: App, { team_api_key, management_key }: MaybeKeys) {
  return {
    ...(team_api_key && (await opens(teamKeyCaller(app, team_api_key))) ? { team_api_key } : {}),
    ...(management_key && (await opens(managementCaller(app, management_key))) ? { management_key } : {}),
  }
}

const opens = (caller: Promise<unknown>) =>
  caller.then(
    () => true,
    (error) => {
      if (error instanceof Problem) return false
      throw error
    },
  )
