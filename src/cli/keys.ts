import { Id, InstantIn, roles, Text } from '../contract/common.ts'
import type { App } from '../platform/app.ts'
import type { ManagementCaller } from '../platform/callers.ts'
import { Problem, setupProblem } from '../platform/problem.ts'
import {
  createManagementKey,
  createTeamKey,
  deleteManagementKey,
  deleteTeamKeys,
  listManagementKeys,
  listTeamKeys,
} from '../tenants/keys/actions.ts'
import { rotateManagementKey, rotateTeamKey } from '../tenants/keys/rotate.ts'
import { findFirstOrgAndTeam } from '../tenants/teams/orgs.ts'
import { fetchAllPages } from './all-pages.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { usageError, type Values } from './options.ts'
import { recordOperator } from './record-operator.ts'
import { Count } from './service.ts'
import { withApp } from './with-app.ts'

export const listKeys = command({
  name: 'keys list',
  summary: 'List the active keys with their prefix and last use.',
  options: {},
  async run({ json }) {
    const keys = await withApp(async (app) => {
      const operator = await asOperator(app)
      const teamPages = await fetchAllPages((query) => listTeamKeys(app, operator, query))
      const managementPages = await fetchAllPages((query) => listManagementKeys(app, operator, query))
      return { team_api_keys: teamPages.flatMap((page) => page.api_keys), management_keys: managementPages.flatMap((page) => page.data) }
    })
    const rows = [
      ...keys.team_api_keys.map((key) => rowOf(key.read_only ? 'team, read-only' : 'team', key.value, [key.team_id], key)),
      ...keys.management_keys.map((key) => rowOf(key.role, `${key.prefix}…`, key.team_ids, key)),
    ]
    print(json, keys, listing(['KEY ID', 'KIND', 'PREFIX', 'LABEL', 'TEAM', 'LAST USED', 'EXPIRES'], rows))
  },
})

type ListedKey = { id: string; label: string; last_used_at: string | null; expires_at?: string | null }

const rowOf = (kind: string, prefix: string, teams: string[], { id, label, last_used_at, expires_at }: ListedKey) => [
  id,
  kind,
  prefix,
  label,
  teams.join(', '),
  last_used_at ?? 'never',
  expires_at ?? 'never',
]

const kinds = ['team', ...roles] as const

const createOptions = {
  kind: {
    value: kinds.join('|'),
    what: 'Kind of key: team for data endpoints, org_admin or team_admin for the management API.',
    oneOf: kinds,
    required: true,
  },
  label: { value: 'TEXT', what: 'Label of the key.', shape: Text(100), required: true },
  team: { value: 'ID', what: 'Team of the key. A team key without it belongs to the first team.', shape: Id },
  'read-only': { what: 'Create a team key that can only read.' },
  expires: { value: 'TIME', what: 'When the team key expires.', shape: InstantIn },
  rate: { value: 'N', what: 'Requests per second that the team key can send. Default: no limit.', shape: Count },
  burst: { value: 'N', what: 'Requests that it can send at once after a pause. Default: --rate.', shape: Count },
} as const

export const createKey = command({
  name: 'keys create',
  summary: 'Create a key and print it once. A team_admin key needs --team.',
  options: createOptions,
  examples: ['assay keys create --kind team --label "night shift" --read-only', 'assay keys create --kind org_admin --label console'],
  async run(values) {
    checkCombinations(values)
    const created = await withApp(async (app) => {
      const operator = await asOperator(app)
      return recordOperator(
        app,
        `create ${values.kind} key`,
        (app) => create(app, operator, values),
        ({ id }) => `key_id:${id}`,
      )
    })
    print(values.json, created, [created.key])
  },
})

type CreateValues = Values<typeof createOptions>

function checkCombinations({ kind, team, expires, rate, burst, 'read-only': read_only }: CreateValues) {
  if (kind !== 'team' && rate !== undefined) throw usageError('--rate is for team keys only.')
  if (burst !== undefined && rate === undefined) throw usageError('--rate is required with --burst.')
  if (kind !== 'team' && read_only) throw usageError('--read-only is for team keys only.')
  if (kind !== 'team' && expires !== undefined) throw usageError('--expires is for team keys only.')
  if (kind === 'team_admin' && team === undefined) throw usageError('--team is required for team_admin keys.')
  if (kind === 'org_admin' && team !== undefined) throw usageError('--team does not apply to org_admin keys, which can access every team.')
}

async function create(app: App, operator: Operator, values: CreateValues) {
  const { kind, label, team, expires, rate, burst, 'read-only': read_only } = values
  if (kind === 'org_admin') return presentKey(await createManagementKey(app, operator, { label, role: kind }))
  const teamId = team ?? operator.first_team_id
  if (!teamId) throw setupProblem('The organization has no team; create one with the management API')
  if (kind === 'team_admin')
    return presentKey(await createManagementKey(app, operator, { label, role: kind, team_role_bindings: [{ team_id: teamId }] }))
  const rate_limit = rate ? { requests_per_second: rate, ...(burst ? { burst } : {}) } : null
  const input = { label, team_id: teamId, read_only, expires_at: expires, rate_limit }
  const { id, value: key, expires_at } = await createTeamKey(app, operator, input)
  return { id, key, label, team_id: teamId, read_only, expires_at, rate_limit }
}

const presentKey = ({ id, key, label, role, team_role_bindings }: Awaited<ReturnType<typeof createManagementKey>>) => ({
  id,
  key,
  label,
  role,
  team_role_bindings,
})

export const revokeKey = command({
  name: 'keys revoke',
  summary: 'Revoke a key immediately.',
  options: { id: { value: 'ID', what: 'Key ID from assay keys list.', shape: Id, required: true } },
  async run({ id, json }) {
    await withApp(async (app) => {
      const operator = await asOperator(app)
      await recordOperator(
        app,
        'revoke key',
        async (app) => {
          // Citus cannot change management keys after it has searched the keys of all teams in the same transaction.
          const isTeamKey = await deleteManagementKey(app, operator, id).then(() => false, isNotFound)
          if (isTeamKey && !(await deleteTeamKeys(app, operator, [id])).success.length)
            throw setupProblem('No active key has this ID; list active keys with: assay keys list')
        },
        () => `key_id:${id}`,
      )
    })
    print(json, { revoked: id }, [`revoked ${id}`])
  },
})

export const rotateKey = command({
  name: 'keys rotate',
  summary: 'Replace a key and print the new one once. Tokens of the old key keep working.',
  options: {
    id: { value: 'ID', what: 'Key ID from assay keys list.', shape: Id, required: true },
    'old-expires': { value: 'TIME', what: 'When the old key stops working. Default: now.', shape: InstantIn },
  },
  async run({ id, 'old-expires': oldExpires, json }) {
    const rotated = await withApp(async (app) => {
      const operator = await asOperator(app)
      return recordOperator(
        app,
        'rotate key',
        (app) => rotate(app, operator, id, oldExpires),
        ({ id }) => `key_id:${id}`,
      )
    })
    print(json, rotated, [rotated.key])
  },
})

/** Tries the management keys first, for the same reason as revoking. */
async function rotate(app: App, operator: Operator, id: string, oldExpires: string | undefined) {
  const management = await rotateManagementKey(app, operator, id, oldExpires).catch((error) => isNotFound(error) && undefined)
  if (management) return presentKey(management)
  const { id: key_id, value: key, label, team_id, read_only, expires_at, rate_limit } = await rotateTeamKey(app, operator, id, oldExpires)
  return { id: key_id, key, label, team_id, read_only, expires_at, rate_limit }
}

function isNotFound(error: unknown) {
  if (error instanceof Problem && error.kind === 'not_found') return true
  throw error
}

type Operator = ManagementCaller & { first_team_id: string | undefined }

/** The operator has full access to the first organization. Keys created by the operator have no creator. */
async function asOperator(app: App): Promise<Operator> {
  const found = await findFirstOrgAndTeam(app)
  if (!found) throw setupProblem('The database has no organization yet; create one with: assay bootstrap --org NAME --team NAME')
  return {
    kind: 'management',
    org_id: found.org.id,
    key_id: null,
    plan: found.org.plan,
    team_ids: undefined,
    first_team_id: found.team?.id,
  }
}
