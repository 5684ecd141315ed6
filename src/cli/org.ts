import { Id, plans } from '../contract/common.ts'
import { moveTeam } from '../operations/cluster/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { listAllTeams, setBetas, setRateLimit } from '../tenants/teams/actions.ts'
import { listOrgs, setPlan } from '../tenants/teams/orgs.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { usageError } from './options.ts'
import { recordOperator } from './record-operator.ts'
import { Count } from './service.ts'
import { withApp } from './with-app.ts'

export const orgCommand = command({
  name: 'org',
  summary: 'List the organizations, or set the plan of one.',
  options: {
    org: { value: 'ID', what: 'Organization. Optional if there is only one.' },
    plan: { value: plans.join('|'), what: 'New plan. The management API needs the scale plan.', oneOf: plans },
  },
  async run({ org, plan, json }) {
    const orgs = await withApp(async (app) => {
      if (plan) {
        const org_id = await chooseOrg(app, org)
        await recordOperator(
          app,
          'set plan',
          (app) => setPlan(app, org_id, plan),
          () => `org_id:${org_id}`,
        )
      }
      return listOrgs(app)
    })
    print(
      json,
      orgs,
      listing(
        ['ORGANIZATION ID', 'PLAN', 'NAME'],
        orgs.map(({ id, plan, name }) => [id, plan, name]),
      ),
    )
  },
})

/** The organization named by the option, or the only one. */
export async function chooseOrg(app: App, id: string | undefined) {
  const orgs = await listOrgs(app)
  const matches = id ? orgs.filter((org) => org.id === id) : orgs
  const [org] = matches
  if (!org) throw setupProblem('No organization has this ID; list organizations with: assay org')
  if (matches.length > 1) throw setupProblem('There are several organizations; choose one with --org ID')
  return org.id
}

export const teamCommand = command({
  name: 'team',
  summary: 'List the teams, or set the closed betas of one. The new list replaces the old one; an empty list turns all betas off.',
  options: {
    team: { value: 'ID', what: 'Team whose betas to set.', shape: Id },
    betas: { value: 'NAME,NAME', what: 'Closed betas to enable.' },
  },
  async run({ team, betas, json }) {
    const isChange = team !== undefined || betas !== undefined
    const change = isChange ? parseBetas(team, betas) : undefined
    const teams = await withApp(async (app) => {
      if (!change) return listAllTeams(app)
      const { team_id, betas } = change
      const subject = () => `team_id:${team_id}`
      return [await recordOperator(app, 'set betas', (app) => enableBetas(app, team_id, betas), subject)]
    })
    print(
      json,
      isChange ? teams[0] : teams,
      listing(
        ['TEAM ID', 'NAME', 'BETAS'],
        teams.map(({ id, name, betas }) => [id, name, betas.join(', ')]),
      ),
    )
  },
})

export const limitTeamCommand = command({
  name: 'team limit',
  summary: 'Set the fixed request rate of a team, or remove it with --rate 0.',
  options: {
    team: { value: 'ID', what: 'Team whose rate to set.', shape: Id, required: true },
    rate: { value: 'N', what: 'Requests per second. 0 removes the rate.', shape: Count, required: true },
    burst: { value: 'N', what: 'Requests that are accepted at once after a pause. Default: --rate.', shape: Count },
  },
  examples: ['assay team limit --team ID --rate 20 --burst 40'],
  async run({ team, rate, burst, json }) {
    const rate_limit = rate ? { requests_per_second: rate, ...(burst ? { burst } : {}) } : null
    const limited = await withApp((app) =>
      recordOperator(
        app,
        'set rate limit',
        async (app) => {
          const found = await setRateLimit(app, team, rate_limit)
          if (!found) throw setupProblem('No team has this ID; list teams with: assay team')
          return found
        },
        () => `team_id:${team}`,
      ),
    )
    print(json, limited, [rate_limit ? `limited ${team} to ${rate} requests per second` : `removed the rate limit of ${team}`])
  },
})

export const moveTeamCommand = command({
  name: 'team move',
  summary: 'Move a team to another server of a Citus cluster while the service runs. Other teams in the same shard move with it.',
  options: {
    team: { value: 'ID', what: 'Team to move.', shape: Id, required: true },
    to: { value: 'HOST:PORT', what: 'Server to move to, as assay doctor lists it.', required: true },
    isolate: { what: 'Give the team a shard of its own before the move, so that it moves alone. Stop the service first.' },
  },
  examples: ['assay team move --team ID --to worker-2:5432'],
  async run({ team, to, isolate = false, json }) {
    const moved = await withApp(async (app, { database }) => {
      const moved = await moveTeam(app, database, team, to, isolate)
      return recordOperator(
        app,
        'move team',
        async () => moved,
        () => `team_id:${team}`,
      )
    })
    print(json, moved, [
      moved.from === moved.to ? `the team is already on ${moved.to}` : `moved the team from ${moved.from} to ${moved.to}`,
    ])
  },
})

function parseBetas(team_id: string | undefined, betas: string | undefined) {
  if (team_id === undefined) throw usageError('--team is required with --betas.')
  if (betas === undefined) throw usageError('--betas is required with --team.')
  const names = betas.split(',').map((name) => name.trim())
  return { team_id, betas: names.filter(Boolean) }
}

async function enableBetas(app: App, team_id: string, betas: string[]) {
  const team = await setBetas(app, team_id, betas)
  if (!team) throw setupProblem('No team has this ID; list teams with: assay team')
  return team
}
