import { plans } from '../contract/common.ts'
import { NewTeam } from '../contract/tenants/management.ts'
import { bootstrap, type Keys } from '../operations/deployment/actions.ts'
import { command, print } from './command.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

const { name } = NewTeam.shape

export const bootstrapCommand = command({
  name: 'bootstrap',
  summary: 'Create the first organization, team and keys in an empty database. The keys are printed once.',
  options: {
    org: { value: 'NAME', what: 'Name of the organization.', shape: name, required: true },
    team: { value: 'NAME', what: 'Name of the first team.', shape: name, required: true },
    plan: {
      value: plans.join('|'),
      what: 'Plan of the organization. The management API needs the scale plan.',
      oneOf: plans,
      fallback: 'scale',
    },
  },
  examples: ['assay bootstrap --org "Harbor Health" --team Harbor'],
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
      'Save the keys now. Assay stores only their hashes.',
    ])
  },
})

const subject = ({ org_id, team_id }: Keys) => `org_id:${org_id} team_id:${team_id}`
