import type { App } from '../app.ts'
import { billingTypes, delegatedFlows, labAccountStatuses, usStates } from '../contract/catalog.ts'
import { Id, Text } from '../contract/common.ts'
import { createLabAccount, listAllLabAccounts, setLabAccountStatus } from '../lab-accounts/actions.ts'
import { setupProblem } from '../problem.ts'
import { recordOperator } from './audited.ts'
import { type Command, oneOf, options, print, required, shaped, usage, withApp } from './command.ts'
import { namedLab } from './labs.ts'
import { onlyOrg } from './org.ts'

const statuses = labAccountStatuses.join('|')
const createUsage = `assay lab-accounts create --lab SLUG --provider-account-id TEXT [--org ID] [--name TEXT] [--status ${statuses}] [--delegated-flow ${delegatedFlows.join('|')}] [--billing TYPE=STATE,STATE|TYPE=*]... [--clinical-notes TEXT] [--team ID]... [--json]`

const createOptions = {
  org: { type: 'string' },
  lab: { type: 'string' },
  'provider-account-id': { type: 'string' },
  name: { type: 'string' },
  status: { type: 'string' },
  'delegated-flow': { type: 'string' },
  billing: { type: 'string', multiple: true },
  'clinical-notes': { type: 'string' },
  team: { type: 'string', multiple: true },
} as const

export const createAccount: Command = {
  usage: createUsage,
  summary:
    'Make an account of an organisation at a lab, open to the teams that are named. Without --billing it may bill in every way of the lab, wherever the lab works.',
  async run(args) {
    const wanted = wantedOf(args)
    const account = await withApp((app) =>
      recordOperator(
        app,
        'create lab account',
        (app) => make(app, wanted),
        ({ id }) => `lab_account_id:${id}`,
      ),
    )
    print(wanted.json, account, [account.id])
  },
}

type Wanted = ReturnType<typeof wantedOf>

function wantedOf(args: string[]) {
  const { values } = options(args, createOptions, createUsage)
  const optional = (value: string | undefined, name: string, max: number) =>
    value === undefined ? undefined : shaped(Text(max), value, name)
  return {
    org: values.org === undefined ? undefined : shaped(Id, values.org, '--org'),
    slug: required(values.lab, '--lab', createUsage),
    account: {
      provider_account_id: shaped(
        Text(100),
        required(values['provider-account-id'], '--provider-account-id', createUsage),
        '--provider-account-id',
      ),
      account_name: optional(values.name, '--name', 200),
      default_clinical_notes: optional(values['clinical-notes'], '--clinical-notes', 1000),
      status: oneOf(values.status ?? 'active', labAccountStatuses, '--status'),
      delegated_flow: oneOf(values['delegated-flow'] ?? 'not_delegated', delegatedFlows, '--delegated-flow'),
      billing: merged((values.billing ?? []).map(billingOf)),
      team_ids: (values.team ?? []).map((id) => shaped(Id, id, '--team')),
    },
    json: values.json,
  }
}

/** `client_bill=AZ,CA`, or `client_bill=*` for every state that the lab serves. */
function billingOf(text: string): [string, string[]] {
  const [type = '', states = ''] = text.split('=')
  const named = states.split(',').map((state) => state.trim().toUpperCase())
  if (!named.every((state) => state === '*' || usStates.includes(state)))
    throw usage('--billing must be a billing type with states, such as client_bill=AZ,CA or client_bill=*.')
  return [oneOf(type, billingTypes, 'The type in --billing'), named]
}

/** A billing type may be named more than once. */
function merged(named: [string, string[]][]) {
  const billing: Record<string, string[]> = {}
  for (const [type, states] of named) billing[type] = [...new Set([...(billing[type] ?? []), ...states])]
  return billing
}

async function make(app: App, { org, slug, account }: Wanted) {
  const { id: lab_id } = await namedLab(app, slug)
  return createLabAccount(app, { ...account, org_id: await onlyOrg(app, org), lab_id })
}

const listUsage = 'assay lab-accounts list [--json]'

export const listAccounts: Command = {
  usage: listUsage,
  summary: 'List the accounts at the labs, with the organisation and the teams that may use them.',
  async run(args) {
    const { values } = options(args, {}, listUsage)
    const accounts = await withApp(listAllLabAccounts)
    print(
      values.json,
      accounts,
      accounts.map(({ id, lab, status, provider_account_id, org_id, team_id_allowlist }) =>
        [
          `${id}  ${lab.padEnd(15)}  ${status.padEnd(15)}  ${provider_account_id}`,
          org_id ? `of org ${org_id}` : 'of the platform',
          ...team_id_allowlist.map((team) => `open to team ${team}`),
        ].join(', '),
      ),
    )
  },
}

const statusUsage = `assay lab-accounts set-status --id ID --status ${statuses} [--json]`

export const setAccountStatus: Command = {
  usage: statusUsage,
  summary: 'Set the status of a lab account; orders go to active ones only.',
  async run(args) {
    const { values } = options(args, { id: { type: 'string' }, status: { type: 'string' } }, statusUsage)
    const id = shaped(Id, required(values.id, '--id', statusUsage), '--id')
    const status = oneOf(required(values.status, '--status', statusUsage), labAccountStatuses, '--status')
    const account = await withApp((app) =>
      recordOperator(
        app,
        `set lab account ${status}`,
        (app) => change(app, id, status),
        () => `lab_account_id:${id}`,
      ),
    )
    print(values.json, account, [`${account.id}  ${account.status}`])
  },
}

async function change(app: App, id: string, status: string) {
  const account = await setLabAccountStatus(app, id, status)
  if (!account) throw setupProblem('There is no such lab account; assay lab-accounts list shows them')
  return account
}
