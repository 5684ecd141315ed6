import { plans } from '../contract/common.ts'
import { NewTeam } from '../contract/management.ts'
import { bootstrap, type Keys } from '../deployment/actions.ts'
import { recordOperator } from './audited.ts'
import { type Command, oneOf, options, print, required, shaped, withApp } from './command.ts'

const usage = `assay bootstrap --org NAME --team NAME [--plan ${plans.join('|')}] [--json]`

export const bootstrapCommand: Command = {
  usage,
  summary: 'Make the first organisation, team and keys on an empty database. The keys are shown this once.',
  async run(args) {
    const { values } = options(
      args,
      { org: { type: 'string' }, team: { type: 'string' }, plan: { type: 'string', default: 'scale' } },
      usage,
    )
    const names = {
      org: shaped(NewTeam.shape.name, required(values.org, '--org', usage), '--org'),
      team: shaped(NewTeam.shape.name, required(values.team, '--team', usage), '--team'),
      plan: oneOf(values.plan, plans, '--plan'),
    }
    const keys = await withApp(async (app) => {
      const { BOOTSTRAP_TEAM_API_KEY: team_api_key, BOOTSTRAP_MANAGEMENT_KEY: management_key } = app.config
      return recordOperator(app, 'bootstrap', (app) => bootstrap(app, { team_api_key, management_key }, names), subject)
    }, true)
    print(values.json, keys, [
      `org             ${keys.org_id}`,
      `team            ${keys.team_id}`,
      `team API key    ${keys.team_api_key}`,
      `management key  ${keys.management_key}`,
      '',
      'Keep the keys now: only their hashes are stored.',
    ])
  },
}

const subject = ({ org_id, team_id }: Keys) => `org_id:${org_id} team_id:${team_id}`
