import { Id, plans } from '../contract/common.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { listAllTeams, setBetas } from '../tenants/teams/actions.ts'
import { listOrgs, setPlan } from '../tenants/teams/orgs.ts'
import { recordOperator } from './audited.ts'
import { command, print, usage, withApp } from './command.ts'
import { listing } from './listing.ts'

export const orgCommand = command({
  name: 'org',
  summary: 'List the organizations, or set the plan of one.',
  options: {
    org: { value: 'ID', what: 'Organization. Optional if there is only one.' },
    plan: { value: plans.join('|'), what: 'New plan. The management API needs scale.', oneOf: plans },
  },
  async run({ org, plan, json }) {
    const orgs = await withApp(async (app) => {
      if (plan) {
        const org_id = await onlyOrg(app, org)
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
export async function onlyOrg(app: App, id: string | undefined) {
  const orgs = await listOrgs(app)
  const found = id ? orgs.filter((org) => org.id === id) : orgs
  const [org] = found
  if (!org) throw setupProblem('There is no such organization; assay org lists them')
  if (found.length > 1) throw setupProblem('There are several organizations; choose one with --org ID')
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
    const asked = team !== undefined || betas !== undefined
    const change = asked ? betasOf(team, betas) : undefined
    const teams = await withApp(async (app) => {
      if (!change) return listAllTeams(app)
      const { team_id, betas } = change
      const subject = () => `team_id:${team_id}`
      return [await recordOperator(app, 'set betas', (app) => enable(app, team_id, betas), subject)]
    })
    print(
      json,
      asked ? teams[0] : teams,
      listing(
        ['TEAM ID', 'NAME', 'BETAS'],
        teams.map(({ id, name, betas }) => [id, name, betas.join(', ')]),
      ),
    )
  },
})

function betasOf(team_id: string | undefined, betas: string | undefined) {
  if (team_id === undefined) throw usage('--team is required with --betas.')
  if (betas === undefined) throw usage('--betas is required with --team.')
  const names = betas.split(',').map((name) => name.trim())
  return { team_id, betas: names.filter(Boolean) }
}

async function enable(app: App, team_id: string, betas: string[]) {
  const team = await setBetas(app, team_id, betas)
  if (!team) throw setupProblem('There is no such team')
  return team
}
