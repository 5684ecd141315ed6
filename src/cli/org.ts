import type { App } from '../app.ts'
import { Id, plans } from '../contract/common.ts'
import { setupProblem } from '../problem.ts'
import { listAllTeams, setBetas } from '../teams/actions.ts'
import { listOrgs, setPlan } from '../teams/orgs.ts'
import { recordOperator } from './audited.ts'
import { type Command, oneOf, options, print, required, shaped, withApp } from './command.ts'

const orgUsage = `assay org [--org ID] [--plan ${plans.join('|')}] [--json]`

export const orgCommand: Command = {
  usage: orgUsage,
  summary: 'Show the organisations, or set the plan of one.',
  async run(args) {
    const { values } = options(args, { org: { type: 'string' }, plan: { type: 'string' } }, orgUsage)
    const plan = values.plan === undefined ? undefined : oneOf(values.plan, plans, '--plan')
    const orgs = await withApp(async (app) => {
      if (plan) {
        const org_id = await onlyOrg(app, values.org)
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
      values.json,
      orgs,
      orgs.map(({ id, plan, name }) => `${id}  ${plan.padEnd(6)}  ${name}`),
    )
  },
}

/** The organisation that is meant: named, or the only one. */
export async function onlyOrg(app: App, id: string | undefined) {
  const orgs = await listOrgs(app)
  const found = id ? orgs.filter((org) => org.id === id) : orgs
  const [org] = found
  if (!org) throw setupProblem('There is no such organisation; assay org lists them')
  if (found.length > 1) throw setupProblem('There is more than one organisation; name one with --org ID')
  return org.id
}

const teamUsage = 'assay team [--team ID --betas NAME,NAME] [--json]'

export const teamCommand: Command = {
  usage: teamUsage,
  summary: 'Show the teams, or enable exactly these closed betas for one; an empty list enables none.',
  async run(args) {
    const { values } = options(args, { team: { type: 'string' }, betas: { type: 'string' } }, teamUsage)
    const asked = values.team !== undefined || values.betas !== undefined
    const change = asked ? betasOf(values.team, values.betas) : undefined
    const teams = await withApp(async (app) => {
      if (!change) return listAllTeams(app)
      const { team_id, betas } = change
      const subject = () => `team_id:${team_id}`
      return [await recordOperator(app, 'set betas', (app) => enable(app, team_id, betas), subject)]
    })
    print(
      values.json,
      asked ? teams[0] : teams,
      teams.map(({ id, name, betas }) => `${id}  ${name}  betas: ${betas.join(', ') || 'none'}`),
    )
  },
}

function betasOf(team: string | undefined, betas: string | undefined) {
  const team_id = shaped(Id, required(team, '--team', teamUsage), '--team')
  const names = required(betas, '--betas', teamUsage).split(',')
  return { team_id, betas: names.map((name) => name.trim()).filter(Boolean) }
}

async function enable(app: App, team_id: string, betas: string[]) {
  const team = await setBetas(app, team_id, betas)
  if (!team) throw setupProblem('There is no such team')
  return team
}
