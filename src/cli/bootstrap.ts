import { plans } from '../contract/common.ts'
import { NewTeam } from '../contract/tenants/management.ts'
import { bootstrap, type Keys } from '../operations/deployment/actions.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'

const { name } = NewTeam.shape

export const bootstrapCommand = command({
  name: 'bootstrap',
  summary: 'Make the first organisation, team and keys on an empty database. The keys are shown this once.',
  options: {
    org: { value: 'NAME', what: 'Name of the organisation.', shape: name, required: true },
    team: { value: 'NAME', what: 'Name of its first team.', shape: name, required: true },
    plan: { value: plans.join('|'), what: 'The plan; the management API answers for scale only.', oneOf: plans, fallback: 'scale' },
  },
  examples: ['assay bootstrap --org "Harbour Health" --team Harbour'],
  async run({ json, ...names }) {
    const keys = await withApp(async (app) => {
      const { BOOTSTRAP_TEAM_API_KEY: team_api_key, BOOTSTRAP_MANAGEMENT_KEY: management_key } = app.config
      return recordOperator(app, 'bootstrap', (app) => bootstrap(app, { team_api_key, management_key }, names), subject)
    }, true)
    print(json, keys, [
      `org             ${keys.org_id}`,
      `team            ${keys.team_id}`,
      `team API key    ${keys.team_api_key}`,
      `management key  ${keys.management_key}`,
      '',
      'Keep the keys now: only their hashes are stored.',
    ])
  },
})

const subject = ({ org_id, team_id }: Keys) => `org_id:${org_id} team_id:${team_id}`
