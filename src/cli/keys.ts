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
import { firstOrgAndTeam } from '../tenants/teams/orgs.ts'
import { recordOperator } from './audited.ts'
import { command, print, usage, withApp } from './command.ts'
import { listing } from './listing.ts'
import type { Values } from './options.ts'

export const listKeys = command({
  name: 'keys list',
  summary: 'List the live keys by their visible beginning, with their last use.',
  options: {},
  async run({ json }) {
    const keys = await withApp(async (app) => {
      const operator = await asOperator(app)
      const teamPages = await everyPage((query) => listTeamKeys(app, operator, query))
      const managementPages = await everyPage((query) => listManagementKeys(app, operator, query))
      return { team_api_keys: teamPages.flatMap((page) => page.api_keys), management_keys: managementPages.flatMap((page) => page.data) }
    })
    const rows = [
      ...keys.team_api_keys.map((key) => rowOf(key.read_only ? 'team, read-only' : 'team', key.value, [key.team_id], key)),
      ...keys.management_keys.map((key) => rowOf(key.role, `${key.prefix}…`, key.team_ids, key)),
    ]
    print(json, keys, listing(['KEY ID', 'KIND', 'BEGINNING', 'LABEL', 'TEAM', 'LAST USED', 'EXPIRES'], rows))
  },
})

type Listed = { id: string; label: string; last_used_at: string | null; expires_at?: string | null }

const rowOf = (kind: string, shown: string, teams: string[], { id, label, last_used_at, expires_at }: Listed) => [
  id,
  kind,
  shown,
  label,
  teams.join(', '),
  last_used_at ?? 'never',
  expires_at ?? 'never',
]

async function everyPage<P extends { next_cursor: string | null }>(list: (query: { next_cursor?: string | undefined }) => Promise<P>) {
  const pages = [await list({})]
  for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor) pages.push(await list({ next_cursor: next }))
  return pages
}

const kinds = ['team', ...roles] as const

const createOptions = {
  kind: { value: kinds.join('|'), what: 'team opens the data routes, the others the management API.', oneOf: kinds, required: true },
  label: { value: 'TEXT', what: 'What it is for.', shape: Text(100), required: true },
  team: { value: 'ID', what: 'The team; of a team key the first team unless given.', shape: Id },
  'read-only': { what: 'The team key may call reads only.' },
  expires: { value: 'INSTANT', what: 'When the team key stops working.', shape: InstantIn },
} as const

export const createKey = command({
  name: 'keys create',
  summary: 'Make a key and show it this once. A team key without --team belongs to the first team; a team_admin key needs --team.',
  options: createOptions,
  examples: ['assay keys create --kind team --label "night shift" --read-only', 'assay keys create --kind org_admin --label console'],
  async run(values) {
    checkTogether(values)
    const made = await withApp(async (app) => {
      const operator = await asOperator(app)
      return recordOperator(
        app,
        `create ${values.kind} key`,
        (app) => make(app, operator, values),
        ({ id }) => `key_id:${id}`,
      )
    })
    print(values.json, made, [made.key])
  },
})

type Wanted = Values<typeof createOptions>

function checkTogether({ kind, team, expires, 'read-only': read_only }: Wanted) {
  if (kind !== 'team' && read_only) throw usage('--read-only is for team keys only.')
  if (kind !== 'team' && expires !== undefined) throw usage('--expires is for team keys only.')
  if (kind === 'team_admin' && team === undefined) throw usage('--team is missing: a team_admin key is bound to a team.')
  if (kind === 'org_admin' && team !== undefined) throw usage('--team is not for org_admin keys, which reach every team.')
}

async function make(app: App, operator: Operator, { kind, label, team, expires, 'read-only': read_only }: Wanted) {
  if (kind === 'org_admin') return madeOf(await createManagementKey(app, operator, { label, role: kind }))
  const of = team ?? operator.first_team_id
  if (!of) throw setupProblem('The organisation has no team; make one with the management API')
  if (kind === 'team_admin')
    return madeOf(await createManagementKey(app, operator, { label, role: kind, team_role_bindings: [{ team_id: of }] }))
  const { id, value: key, expires_at } = await createTeamKey(app, operator, { label, team_id: of, read_only, expires_at: expires })
  return { id, key, label, team_id: of, read_only, expires_at }
}

const madeOf = ({ id, key, label, role, team_role_bindings }: Awaited<ReturnType<typeof createManagementKey>>) => ({
  id,
  key,
  label,
  role,
  team_role_bindings,
})

export const revokeKey = command({
  name: 'keys revoke',
  summary: 'Revoke a key at once.',
  options: { id: { value: 'ID', what: 'The id that assay keys list shows.', shape: Id, required: true } },
  async run({ id, json }) {
    await withApp(async (app) => {
      const operator = await asOperator(app)
      await recordOperator(
        app,
        'revoke key',
        async (app) => {
          const { success } = await deleteTeamKeys(app, operator, [id])
          if (!success.length) await deleteManagementKey(app, operator, id).catch(nameBothKinds)
        },
        () => `key_id:${id}`,
      )
    })
    print(json, { revoked: id }, [`revoked ${id}`])
  },
})

function nameBothKinds(error: unknown): never {
  const unknown = error instanceof Problem && error.kind === 'not_found'
  throw unknown ? setupProblem('There is no such live key, neither of a team nor of management; assay keys list shows them') : error
}

type Operator = ManagementCaller & { first_team_id: string | undefined }

/** The operator acts on the first organisation with every right, but is no key: what it makes has no creator. */
async function asOperator(app: App): Promise<Operator> {
  const found = await firstOrgAndTeam(app)
  if (!found) throw setupProblem('The database has no organisation yet; make one with: assay bootstrap --org NAME --team NAME')
  return {
    kind: 'management',
    org_id: found.org.id,
    key_id: null,
    plan: found.org.plan,
    team_ids: undefined,
    first_team_id: found.team?.id,
  }
}
