import { Email, plans } from '../contract/common.ts'
import { NewTeam } from '../contract/tenants/management.ts'
import { bootstrap, type Keys } from '../operations/deployment/actions.ts'
import type { App } from '../platform/app.ts'
import { createInvite } from '../tenants/people/invitations.ts'
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
    email: {
      value: 'ADDRESS',
      what: 'Email address of the first person, an administrator. The command prints an invitation. A key cannot acknowledge critical results in the console.',
      shape: Email,
    },
  },
  examples: ['assay bootstrap --org "Harbor Health" --team Harbor --email keeper@example.org'],
  async run({ json, email, ...names }) {
    const keys = await withApp(async (app) => {
      const { BOOTSTRAP_TEAM_API_KEY: team_api_key, BOOTSTRAP_MANAGEMENT_KEY: management_key } = app.config
      return recordOperator(
        app,
        'bootstrap',
        async (app) => invited(app, email, await bootstrap(app, { team_api_key, management_key }, names)),
        subject,
      )
    }, true)
    print(json, keys, [
      `org             ${keys.org_id}`,
      `team            ${keys.team_id}`,
      `team API key    ${keys.team_api_key}`,
      `management key  ${keys.management_key}`,
      ...(keys.invitation ? [`first person    ${keys.invitation}`] : []),
      '',
      'Save the keys now. Assay stores only their hashes.',
    ])
  },
})

const subject = ({ org_id, team_id }: Keys) => `org_id:${org_id} team_id:${team_id}`

/** Invites the first person. The link works once. */
async function invited(app: App, email: string | undefined, keys: Keys): Promise<Keys & { invitation?: string | null }> {
  if (!email) return keys
  const operator = { kind: 'management', org_id: keys.org_id, key_id: null, plan: 'scale', team_ids: undefined } as const
  const { link } = await createInvite(app, operator, { email, role: 'org_admin' })
  return { ...keys, invitation: link }
}
